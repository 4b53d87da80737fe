# mire_embed(OUT name FILE): a C source that holds the file's bytes as `const char NAME[]` and `const size_t NAME_len`.
function(mire_embed out name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.c CONTENT
    "#include <stddef.h>\nextern const char ${name}[];\nextern const size_t ${name}_len;\nconst char ${name}[] = {${bytes}0};\nconst size_t ${name}_len = sizeof ${name} - 1;\n" @ONLY)
  set(${out} ${CMAKE_CURRENT_BINARY_DIR}/${name}.c PARENT_SCOPE)
endfunction()
