# Audits device code after the build, without a GPU.
#
#   execute_process(COMMAND ptxaudit recipe cmake --path OUTPUT_VARIABLE recipe OUTPUT_STRIP_TRAILING_WHITESPACE)
#   include(${recipe})
#   ptxaudit_check(TARGET app LAUNCH launches.toml FAIL_ON PA001 excess=4)
#   ptxaudit_check(NAME kernels FILES a.cu b.ptx BASELINE ptxaudit-baseline.json ARGS --arch sm_90)
#
# TARGET: an executable or library with embedded device code, audited after it is linked; a denial fails the build.
# FILES: sources, PTX or cubins, audited by the target NAME, which is part of `all`.
# DEPENDS: headers and other files that FILES depend on; LAUNCH and BASELINE are dependencies anyway.
# LAUNCH, BASELINE: files; FAIL_ON: rules and limits; STRICT; ARGS: further arguments of `ptxaudit audit`.

find_program(PTXAUDIT_EXECUTABLE ptxaudit DOC "The ptxaudit command")

function(ptxaudit_check)
    cmake_parse_arguments(PARSE_ARGV 0 check "STRICT" "TARGET;NAME;BASELINE" "FILES;DEPENDS;LAUNCH;FAIL_ON;ARGS")
    if(check_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "ptxaudit_check: unknown arguments ${check_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT PTXAUDIT_EXECUTABLE)
        message(FATAL_ERROR "ptxaudit_check: there is no ptxaudit command; run: pip install ptxaudit")
    endif()

    set(arguments)
    set(depends ${check_DEPENDS})
    foreach(file IN LISTS check_LAUNCH)
        get_filename_component(file "${file}" ABSOLUTE)
        list(APPEND arguments --launch "${file}")
        list(APPEND depends "${file}")
    endforeach()
    foreach(limit IN LISTS check_FAIL_ON)
        list(APPEND arguments --fail-on "${limit}")
    endforeach()
    if(check_BASELINE)
        get_filename_component(file "${check_BASELINE}" ABSOLUTE)
        list(APPEND arguments --baseline "${file}")
        list(APPEND depends "${file}")
    endif()
    if(check_STRICT)
        list(APPEND arguments --strict)
    endif()
    list(APPEND arguments ${check_ARGS})

    if(check_TARGET AND NOT check_FILES)
        add_custom_command(TARGET ${check_TARGET} POST_BUILD
            COMMAND "${PTXAUDIT_EXECUTABLE}" audit "$<TARGET_FILE:${check_TARGET}>" ${arguments}
            WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
            COMMENT "Auditing the shared-memory accesses of ${check_TARGET}" VERBATIM)
    elseif(check_FILES AND check_NAME)
        set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${check_NAME}.ptxaudit.txt")
        add_custom_command(OUTPUT "${stamp}"
            COMMAND "${PTXAUDIT_EXECUTABLE}" audit ${check_FILES} ${arguments} -o "${stamp}.part"
            COMMAND "${CMAKE_COMMAND}" -E rename "${stamp}.part" "${stamp}"
            DEPENDS ${check_FILES} ${depends} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
            COMMENT "Auditing the shared-memory accesses of ${check_NAME}" VERBATIM)
        add_custom_target(${check_NAME} ALL DEPENDS "${stamp}")
    else()
        message(FATAL_ERROR "ptxaudit_check: name a TARGET, or a NAME and FILES")
    endif()
endfunction()
