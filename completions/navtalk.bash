# bash completion for navtalk, made by `navtalk completions bash`: do not edit.

_navtalk_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_navtalk_paths() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}

_navtalk() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command=navtalk i
  COMPREPLY=()
  # --option=value comes as three words
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
      *" --config")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      *" --log-level")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench image --size")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench image --batch")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench image --time")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar" | "navtalk avatar list" | "navtalk avatar show" | "navtalk bench" | "navtalk bench image" | "navtalk fix-filenames" | "navtalk config" | "navtalk config check" | "navtalk config show" | "navtalk config example" | "navtalk completions") command+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  case "$command $option" in
    *" --config")
      _navtalk_paths -f
      return
      ;;
    *" --log-level")
      _navtalk_words 'trace debug info warn error off'
      return
      ;;
    "navtalk bench image --size")
      _navtalk_words '512 720p 1080p'
      return
      ;;
    "navtalk bench image --batch")
      :
      return
      ;;
    "navtalk bench image --time")
      :
      return
      ;;
  esac
  case $command in
    "navtalk")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_words 'avatar bench fix-filenames config completions'
      fi
      ;;
    "navtalk avatar")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_words 'list show'
      fi
      ;;
    "navtalk avatar list")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk avatar show")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk bench")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_words 'image'
      fi
      ;;
    "navtalk bench image")
      if [[ $current == -* ]]; then
        _navtalk_words '--size --batch --time --help -h --version --config --json --log-level --no-color'
      else
        :
      fi
      ;;
    "navtalk fix-filenames")
      if [[ $current == -* ]]; then
        _navtalk_words '--dry-run --help -h --version --config --json --log-level --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk config")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_words 'check show example'
      fi
      ;;
    "navtalk config check")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_paths -f
      fi
      ;;
    "navtalk config show")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        :
      fi
      ;;
    "navtalk config example")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        :
      fi
      ;;
    "navtalk completions")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_words 'bash zsh fish'
      fi
      ;;
  esac
}

complete -F _navtalk navtalk
