# Run by `cmake --install`: calls `program` to write its manual and completions into `share`.
set(share $ENV{DESTDIR}${share})

function(write_from_program file)  # FILE WORDS…
  get_filename_component(folder ${share}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${program} ${ARGN} OUTPUT_FILE ${share}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

execute_process(COMMAND ${program} man --list OUTPUT_VARIABLE pages COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${pages}" pages)
string(REPLACE "\n" ";" pages "${pages}")
foreach(page IN LISTS pages)
  string(REPLACE "-" ";" words ${page})
  list(REMOVE_AT words 0)
  write_from_program(man/man1/${page}.1 man ${words})
endforeach()
write_from_program(bash-completion/completions/ounce completion bash)
write_from_program(zsh/site-functions/_ounce completion zsh)
write_from_program(fish/vendor_completions.d/ounce.fish completion fish)
list(LENGTH pages count)
message(STATUS "Installing: ${count} manual pages, and completions for bash, zsh and fish, below ${share}")
