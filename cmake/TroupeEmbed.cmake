# troupe_embed(target base file...): puts files into the binary's read-only data, found by
# troupe::embedded("path relative to base"). Assembled with .incbin, so a change rebuilds one tiny object.
function(troupe_embed target base)
  set(asm ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.S)
  set(cpp ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp)
  set(asm_text "    .section .note.GNU-stack,\"\",@progbits\n    .section .rodata\n")
  set(decls "")
  set(rows "")
  set(n 0)
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH name ${base} ${file})
    string(APPEND asm_text "    .global troupe_embedded_${n}\n    .global troupe_embedded_${n}_end\ntroupe_embedded_${n}:\n    .incbin \"${file}\"\ntroupe_embedded_${n}_end:\n    .byte 0\n")
    string(APPEND decls "extern \"C\" const char troupe_embedded_${n}[], troupe_embedded_${n}_end[];\n")
    string(APPEND rows "    {\"${name}\", troupe_embedded_${n}, troupe_embedded_${n}_end},\n")
    math(EXPR n "${n} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${asm} CONTENT "${asm_text}" @ONLY)
  file(CONFIGURE OUTPUT ${cpp} CONTENT "#include \"core/base/embedded.hpp\"\n${decls}
namespace troupe {
const std::vector<embedded_file>& embedded_files() {
  static const std::vector<embedded_file> files{
${rows}  };
  return files;
}
} // namespace troupe
" @ONLY)
  set_source_files_properties(${asm} PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_sources(${target} PRIVATE ${asm} ${cpp})
  set_source_files_properties(${asm} ${cpp} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
