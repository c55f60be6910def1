# Writes INPUTS (paths with | between), one behind the other, as the C string NAME into OUTPUT. Run as
# a script.
string(REPLACE "|" ";" inputs "${INPUTS}")
set(hex "")
foreach(input ${inputs})
  file(READ ${input} more HEX)
  string(APPEND hex "${more}")
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")
