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
      "navtalk avatar prepare --video")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --image")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --images")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --output")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --id")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --face-box")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --face-boxes")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --fps")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --models")
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
      "navtalk avatar" | "navtalk avatar list" | "navtalk avatar prepare" | "navtalk avatar show" | "navtalk bench" | "navtalk bench image" | "navtalk fix-filenames" | "navtalk config" | "navtalk config check" | "navtalk config show" | "navtalk config example" | "navtalk completions") command+=" ${COMP_WORDS[i]}" ;;
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
    "navtalk avatar prepare --video")
      _navtalk_paths -f
      return
      ;;
    "navtalk avatar prepare --image")
      _navtalk_paths -f
      return
      ;;
    "navtalk avatar prepare --images")
      _navtalk_paths -d
      return
      ;;
    "navtalk avatar prepare --output")
      _navtalk_paths -d
      return
      ;;
    "navtalk avatar prepare --id")
      :
      return
      ;;
    "navtalk avatar prepare --face-box")
      :
      return
      ;;
    "navtalk avatar prepare --face-boxes")
      _navtalk_paths -f
      return
      ;;
    "navtalk avatar prepare --fps")
      :
      return
      ;;
    "navtalk avatar prepare --models")
      _navtalk_paths -d
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
        _navtalk_words 'list prepare show'
      fi
      ;;
    "navtalk avatar list")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk avatar prepare")
      if [[ $current == -* ]]; then
        _navtalk_words '--video --image --images --output --id --face-box --face-boxes --fps --models --no-latents --force --help -h --version --config --json --log-level --no-color'
      else
        :
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
