include(GNUInstallDirs)
install(TARGETS penstock RUNTIME)
