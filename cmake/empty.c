// placeholder while a layer is empty
