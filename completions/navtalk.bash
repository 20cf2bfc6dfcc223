# bash completion for navtalk, made by `navtalk completions bash`: do not edit.

_navtalk_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_navtalk_paths() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}

# The first column of a list, without its heading
_navtalk_first() {
  "${COMP_WORDS[0]}" "$@" 2> /dev/null | sed '1d; s/ .*//'
}

_navtalk_avatars() {
  if [[ $current == */* ]]; then
    _navtalk_paths -d
  else
    _navtalk_words "$(_navtalk_first avatar list)"
  fi
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
      *" --progress")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --avatar")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --audio")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --text")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --text-file")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --voice")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --start")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --duration")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --output" | "navtalk infer -o")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --output-dir")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --frames")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --fps")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --size")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --crf")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --bitrate")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --subtitles")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --models")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --decoder-device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --weight-format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --precision")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --threads")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --batch")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --sharpen")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer --source")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job probe --max-duration")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job probe --voice")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job render --models")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job render --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job render --decoder-device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job render --weight-format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job render --precision")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job render --threads")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job render --batch")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job render --faces")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --avatar")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --audio")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --text")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --voice")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --csv")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --folder")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --size")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --fps")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --priority")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --webhook")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --output" | "navtalk job submit -o")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job submit --key-file")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job wait --url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job wait --key-file")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job fetch --output" | "navtalk job fetch -o")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job fetch --url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job fetch --key-file")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job cancel --url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job cancel --key-file")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --csv")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --folder")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --output-dir")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --state")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --avatar")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --voice")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --models")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --decoder-device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --weight-format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --precision")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --threads")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --batch")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job run --source")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job list --url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job list --key-file")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job list --state")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job list --only")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job list --limit")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job list --after")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job status --url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job status --key-file")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk job status --state")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --listen")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --admin-listen")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --drain-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --source")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --slots")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --decoder-device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --weight-format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --precision")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --video-encoder")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --threads")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --models")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --avatar")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --name")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --token-file")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --gateway-silence-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk serve --first-contact-s")
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
      "navtalk avatar prepare --idle")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --listening")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --action")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --output" | "navtalk avatar prepare -o")
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
      "navtalk avatar prepare --bbox-shift")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --extra-margin")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --parsing-mode")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --left-cheek-width")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --right-cheek-width")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --face")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --fps")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --voice")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --sharpen")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --preview")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --models")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --face-precision")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar prepare --face-batch")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar show --preview")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar import --id")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar import --fps")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar import --voice")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar import --sharpen")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar export --models")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar pull --source")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk avatar push --source")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool status --every")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool add --url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool add --slots")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool add --dedicated-to")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool drain --notice-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool events --since")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool events --gpu")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool events --limit")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool audit --days")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool audit --tolerance")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool cost --days")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk pool cost --by")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk key create --tenant")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk key create --role")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk key create --expires")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk tenant set --plan")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk tenant set --weight")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk tenant set --max-rate")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk tenant set --max-queued")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk tenant set --max-running")
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
      "navtalk bench image --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pipeline --models")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pipeline --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pipeline --decoder-device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pipeline --weight-format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pipeline --precision")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pipeline --batch")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pipeline --threads")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pipeline --time")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench faces --models")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench faces --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench faces --precision")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench faces --size")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench faces --batch")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench faces --threads")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench faces --time")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --trace")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --output")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --tenants")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --zipf")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --hours")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --arriving")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --batch-jobs")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --job-minutes")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --seed")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --sessions")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --live")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --live-load")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --session-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --gpus")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --max-gpus")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --lead-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --lead-sigma")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --rate")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --utilisation")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --policy")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --flood")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench jobs --flooder")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pool --clients")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pool --store")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pool --slots")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pool --seconds")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench pool --gpus")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --trace")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --generate")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --output")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --days")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --sessions")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --session-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --policy")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --wait-probability")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --knob")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --seed")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --lead-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --lead-sigma")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --slots")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --local-gpus")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --usd-per-hour")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --patience-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --hold-down-s")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench scaler --utilisation-least")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --admin-url")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --sessions")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --duration")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --interrupts")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --connects")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --avatar")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --width")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --audio")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --message-ms")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk bench serve --relay")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk model verify --device")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk model verify --precision")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk model verify --weight-format")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk model pull --source")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk model push --name")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk model push --source")
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
      "navtalk infer" | "navtalk job" | "navtalk job probe" | "navtalk job render" | "navtalk job submit" | "navtalk job wait" | "navtalk job fetch" | "navtalk job cancel" | "navtalk job run" | "navtalk job list" | "navtalk job status" | "navtalk voices" | "navtalk serve" | "navtalk avatar" | "navtalk avatar list" | "navtalk avatar prepare" | "navtalk avatar show" | "navtalk avatar import" | "navtalk avatar export" | "navtalk avatar pull" | "navtalk avatar push" | "navtalk pool" | "navtalk pool status" | "navtalk pool scale" | "navtalk pool add" | "navtalk pool token" | "navtalk pool drain" | "navtalk pool wake" | "navtalk pool pause" | "navtalk pool remove" | "navtalk pool events" | "navtalk pool audit" | "navtalk pool cost" | "navtalk key" | "navtalk key create" | "navtalk key list" | "navtalk key revoke" | "navtalk tenant" | "navtalk tenant list" | "navtalk tenant show" | "navtalk tenant set" | "navtalk bench" | "navtalk bench image" | "navtalk bench pipeline" | "navtalk bench faces" | "navtalk bench jobs" | "navtalk bench pool" | "navtalk bench scaler" | "navtalk bench serve" | "navtalk model" | "navtalk model check" | "navtalk model verify" | "navtalk model pull" | "navtalk model push" | "navtalk fix-filenames" | "navtalk config" | "navtalk config check" | "navtalk config show" | "navtalk config example" | "navtalk completions") command+=" ${COMP_WORDS[i]}" ;;
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
    *" --progress")
      _navtalk_words 'auto json none'
      return
      ;;
    "navtalk infer --avatar")
      _navtalk_avatars
      return
      ;;
    "navtalk infer --audio")
      _navtalk_paths -f
      return
      ;;
    "navtalk infer --text")
      :
      return
      ;;
    "navtalk infer --text-file")
      _navtalk_paths -f
      return
      ;;
    "navtalk infer --voice")
      _navtalk_words "$(_navtalk_first voices)"
      return
      ;;
    "navtalk infer --start")
      :
      return
      ;;
    "navtalk infer --duration")
      :
      return
      ;;
    "navtalk infer --output" | "navtalk infer -o")
      _navtalk_paths -f
      return
      ;;
    "navtalk infer --output-dir")
      _navtalk_paths -d
      return
      ;;
    "navtalk infer --format")
      _navtalk_words 'mp4 mov mkv webm gif webp'
      return
      ;;
    "navtalk infer --frames")
      _navtalk_paths -d
      return
      ;;
    "navtalk infer --fps")
      :
      return
      ;;
    "navtalk infer --size")
      :
      return
      ;;
    "navtalk infer --crf")
      :
      return
      ;;
    "navtalk infer --bitrate")
      :
      return
      ;;
    "navtalk infer --subtitles")
      _navtalk_words 'srt vtt burn'
      return
      ;;
    "navtalk infer --models")
      _navtalk_paths -d
      return
      ;;
    "navtalk infer --device")
      :
      return
      ;;
    "navtalk infer --decoder-device")
      :
      return
      ;;
    "navtalk infer --weight-format")
      _navtalk_words 'auto int8'
      return
      ;;
    "navtalk infer --precision")
      _navtalk_words 'auto fp32 bf16 fp16'
      return
      ;;
    "navtalk infer --threads")
      :
      return
      ;;
    "navtalk infer --batch")
      :
      return
      ;;
    "navtalk infer --sharpen")
      :
      return
      ;;
    "navtalk infer --source")
      :
      return
      ;;
    "navtalk job probe --max-duration")
      :
      return
      ;;
    "navtalk job probe --voice")
      _navtalk_words "$(_navtalk_first voices)"
      return
      ;;
    "navtalk job render --models")
      _navtalk_paths -d
      return
      ;;
    "navtalk job render --device")
      :
      return
      ;;
    "navtalk job render --decoder-device")
      :
      return
      ;;
    "navtalk job render --weight-format")
      _navtalk_words 'auto int8'
      return
      ;;
    "navtalk job render --precision")
      _navtalk_words 'auto fp32 bf16 fp16'
      return
      ;;
    "navtalk job render --threads")
      :
      return
      ;;
    "navtalk job render --batch")
      :
      return
      ;;
    "navtalk job render --faces")
      :
      return
      ;;
    "navtalk job submit --avatar")
      :
      return
      ;;
    "navtalk job submit --audio")
      _navtalk_paths -f
      return
      ;;
    "navtalk job submit --text")
      :
      return
      ;;
    "navtalk job submit --voice")
      _navtalk_words "$(_navtalk_first voices)"
      return
      ;;
    "navtalk job submit --csv")
      _navtalk_paths -f
      return
      ;;
    "navtalk job submit --folder")
      _navtalk_paths -d
      return
      ;;
    "navtalk job submit --format")
      _navtalk_words 'mp4 mov mkv webm gif webp'
      return
      ;;
    "navtalk job submit --size")
      :
      return
      ;;
    "navtalk job submit --fps")
      :
      return
      ;;
    "navtalk job submit --priority")
      :
      return
      ;;
    "navtalk job submit --webhook")
      :
      return
      ;;
    "navtalk job submit --output" | "navtalk job submit -o")
      _navtalk_paths -f
      return
      ;;
    "navtalk job submit --url")
      :
      return
      ;;
    "navtalk job submit --key-file")
      _navtalk_paths -f
      return
      ;;
    "navtalk job wait --url")
      :
      return
      ;;
    "navtalk job wait --key-file")
      _navtalk_paths -f
      return
      ;;
    "navtalk job fetch --output" | "navtalk job fetch -o")
      _navtalk_paths -f
      return
      ;;
    "navtalk job fetch --url")
      :
      return
      ;;
    "navtalk job fetch --key-file")
      _navtalk_paths -f
      return
      ;;
    "navtalk job cancel --url")
      :
      return
      ;;
    "navtalk job cancel --key-file")
      _navtalk_paths -f
      return
      ;;
    "navtalk job run --csv")
      _navtalk_paths -f
      return
      ;;
    "navtalk job run --folder")
      _navtalk_paths -d
      return
      ;;
    "navtalk job run --output-dir")
      _navtalk_paths -d
      return
      ;;
    "navtalk job run --format")
      _navtalk_words 'mp4 mov mkv webm gif webp'
      return
      ;;
    "navtalk job run --state")
      _navtalk_paths -f
      return
      ;;
    "navtalk job run --avatar")
      _navtalk_avatars
      return
      ;;
    "navtalk job run --voice")
      _navtalk_words "$(_navtalk_first voices)"
      return
      ;;
    "navtalk job run --models")
      _navtalk_paths -d
      return
      ;;
    "navtalk job run --device")
      :
      return
      ;;
    "navtalk job run --decoder-device")
      :
      return
      ;;
    "navtalk job run --weight-format")
      _navtalk_words 'auto int8'
      return
      ;;
    "navtalk job run --precision")
      _navtalk_words 'auto fp32 bf16 fp16'
      return
      ;;
    "navtalk job run --threads")
      :
      return
      ;;
    "navtalk job run --batch")
      :
      return
      ;;
    "navtalk job run --source")
      :
      return
      ;;
    "navtalk job list --url")
      :
      return
      ;;
    "navtalk job list --key-file")
      _navtalk_paths -f
      return
      ;;
    "navtalk job list --state")
      _navtalk_paths -f
      return
      ;;
    "navtalk job list --only")
      _navtalk_words 'queued released running done failed dead cancelled'
      return
      ;;
    "navtalk job list --limit")
      :
      return
      ;;
    "navtalk job list --after")
      :
      return
      ;;
    "navtalk job status --url")
      :
      return
      ;;
    "navtalk job status --key-file")
      _navtalk_paths -f
      return
      ;;
    "navtalk job status --state")
      _navtalk_paths -f
      return
      ;;
    "navtalk serve --listen")
      :
      return
      ;;
    "navtalk serve --admin-listen")
      :
      return
      ;;
    "navtalk serve --drain-s")
      :
      return
      ;;
    "navtalk serve --source")
      :
      return
      ;;
    "navtalk serve --slots")
      :
      return
      ;;
    "navtalk serve --device")
      :
      return
      ;;
    "navtalk serve --decoder-device")
      :
      return
      ;;
    "navtalk serve --weight-format")
      _navtalk_words 'auto int8'
      return
      ;;
    "navtalk serve --precision")
      _navtalk_words 'auto fp32 bf16 fp16'
      return
      ;;
    "navtalk serve --video-encoder")
      _navtalk_words 'auto x264 nvenc'
      return
      ;;
    "navtalk serve --threads")
      :
      return
      ;;
    "navtalk serve --models")
      _navtalk_paths -d
      return
      ;;
    "navtalk serve --avatar")
      _navtalk_avatars
      return
      ;;
    "navtalk serve --name")
      :
      return
      ;;
    "navtalk serve --token-file")
      _navtalk_paths -f
      return
      ;;
    "navtalk serve --gateway-silence-s")
      :
      return
      ;;
    "navtalk serve --first-contact-s")
      :
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
    "navtalk avatar prepare --idle")
      _navtalk_paths -f
      return
      ;;
    "navtalk avatar prepare --listening")
      _navtalk_paths -f
      return
      ;;
    "navtalk avatar prepare --action")
      :
      return
      ;;
    "navtalk avatar prepare --output" | "navtalk avatar prepare -o")
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
    "navtalk avatar prepare --bbox-shift")
      :
      return
      ;;
    "navtalk avatar prepare --extra-margin")
      :
      return
      ;;
    "navtalk avatar prepare --parsing-mode")
      _navtalk_words 'jaw raw neck skin none'
      return
      ;;
    "navtalk avatar prepare --left-cheek-width")
      :
      return
      ;;
    "navtalk avatar prepare --right-cheek-width")
      :
      return
      ;;
    "navtalk avatar prepare --face")
      :
      return
      ;;
    "navtalk avatar prepare --fps")
      :
      return
      ;;
    "navtalk avatar prepare --voice")
      _navtalk_words "$(_navtalk_first voices)"
      return
      ;;
    "navtalk avatar prepare --sharpen")
      :
      return
      ;;
    "navtalk avatar prepare --preview")
      _navtalk_paths -f
      return
      ;;
    "navtalk avatar prepare --models")
      _navtalk_paths -d
      return
      ;;
    "navtalk avatar prepare --device")
      :
      return
      ;;
    "navtalk avatar prepare --face-precision")
      _navtalk_words 'fp32 bf16 fp16'
      return
      ;;
    "navtalk avatar prepare --face-batch")
      :
      return
      ;;
    "navtalk avatar show --preview")
      _navtalk_paths -f
      return
      ;;
    "navtalk avatar import --id")
      :
      return
      ;;
    "navtalk avatar import --fps")
      :
      return
      ;;
    "navtalk avatar import --voice")
      _navtalk_words "$(_navtalk_first voices)"
      return
      ;;
    "navtalk avatar import --sharpen")
      :
      return
      ;;
    "navtalk avatar export --models")
      _navtalk_paths -d
      return
      ;;
    "navtalk avatar pull --source")
      :
      return
      ;;
    "navtalk avatar push --source")
      :
      return
      ;;
    "navtalk pool status --every")
      :
      return
      ;;
    "navtalk pool add --url")
      :
      return
      ;;
    "navtalk pool add --slots")
      :
      return
      ;;
    "navtalk pool add --dedicated-to")
      :
      return
      ;;
    "navtalk pool drain --notice-s")
      :
      return
      ;;
    "navtalk pool events --since")
      :
      return
      ;;
    "navtalk pool events --gpu")
      :
      return
      ;;
    "navtalk pool events --limit")
      :
      return
      ;;
    "navtalk pool audit --days")
      :
      return
      ;;
    "navtalk pool audit --tolerance")
      :
      return
      ;;
    "navtalk pool cost --days")
      :
      return
      ;;
    "navtalk pool cost --by")
      _navtalk_words 'day provider tenant'
      return
      ;;
    "navtalk key create --tenant")
      :
      return
      ;;
    "navtalk key create --role")
      _navtalk_words 'user admin'
      return
      ;;
    "navtalk key create --expires")
      :
      return
      ;;
    "navtalk tenant set --plan")
      :
      return
      ;;
    "navtalk tenant set --weight")
      :
      return
      ;;
    "navtalk tenant set --max-rate")
      :
      return
      ;;
    "navtalk tenant set --max-queued")
      :
      return
      ;;
    "navtalk tenant set --max-running")
      :
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
    "navtalk bench image --device")
      _navtalk_words 'auto cpu cuda'
      return
      ;;
    "navtalk bench pipeline --models")
      _navtalk_paths -d
      return
      ;;
    "navtalk bench pipeline --device")
      :
      return
      ;;
    "navtalk bench pipeline --decoder-device")
      :
      return
      ;;
    "navtalk bench pipeline --weight-format")
      _navtalk_words 'auto int8'
      return
      ;;
    "navtalk bench pipeline --precision")
      _navtalk_words 'auto fp32 bf16 fp16'
      return
      ;;
    "navtalk bench pipeline --batch")
      :
      return
      ;;
    "navtalk bench pipeline --threads")
      :
      return
      ;;
    "navtalk bench pipeline --time")
      :
      return
      ;;
    "navtalk bench faces --models")
      _navtalk_paths -d
      return
      ;;
    "navtalk bench faces --device")
      :
      return
      ;;
    "navtalk bench faces --precision")
      _navtalk_words 'fp32 bf16 fp16'
      return
      ;;
    "navtalk bench faces --size")
      :
      return
      ;;
    "navtalk bench faces --batch")
      :
      return
      ;;
    "navtalk bench faces --threads")
      :
      return
      ;;
    "navtalk bench faces --time")
      :
      return
      ;;
    "navtalk bench jobs --trace")
      _navtalk_paths -f
      return
      ;;
    "navtalk bench jobs --output")
      _navtalk_paths -f
      return
      ;;
    "navtalk bench jobs --tenants")
      :
      return
      ;;
    "navtalk bench jobs --zipf")
      :
      return
      ;;
    "navtalk bench jobs --hours")
      :
      return
      ;;
    "navtalk bench jobs --arriving")
      :
      return
      ;;
    "navtalk bench jobs --batch-jobs")
      :
      return
      ;;
    "navtalk bench jobs --job-minutes")
      :
      return
      ;;
    "navtalk bench jobs --seed")
      :
      return
      ;;
    "navtalk bench jobs --sessions")
      _navtalk_paths -f
      return
      ;;
    "navtalk bench jobs --live")
      :
      return
      ;;
    "navtalk bench jobs --live-load")
      _navtalk_words 'smooth diurnal bursty'
      return
      ;;
    "navtalk bench jobs --session-s")
      :
      return
      ;;
    "navtalk bench jobs --gpus")
      :
      return
      ;;
    "navtalk bench jobs --max-gpus")
      :
      return
      ;;
    "navtalk bench jobs --lead-s")
      :
      return
      ;;
    "navtalk bench jobs --lead-sigma")
      :
      return
      ;;
    "navtalk bench jobs --rate")
      :
      return
      ;;
    "navtalk bench jobs --utilisation")
      :
      return
      ;;
    "navtalk bench jobs --policy")
      _navtalk_words 'shares fifo priority fair'
      return
      ;;
    "navtalk bench jobs --flood")
      :
      return
      ;;
    "navtalk bench jobs --flooder")
      :
      return
      ;;
    "navtalk bench pool --clients")
      :
      return
      ;;
    "navtalk bench pool --store")
      :
      return
      ;;
    "navtalk bench pool --slots")
      :
      return
      ;;
    "navtalk bench pool --seconds")
      :
      return
      ;;
    "navtalk bench pool --gpus")
      :
      return
      ;;
    "navtalk bench scaler --trace")
      _navtalk_paths -f
      return
      ;;
    "navtalk bench scaler --generate")
      _navtalk_words 'smooth diurnal bursty'
      return
      ;;
    "navtalk bench scaler --output")
      _navtalk_paths -f
      return
      ;;
    "navtalk bench scaler --days")
      :
      return
      ;;
    "navtalk bench scaler --sessions")
      :
      return
      ;;
    "navtalk bench scaler --session-s")
      :
      return
      ;;
    "navtalk bench scaler --policy")
      _navtalk_words 'static buffer buffer-hold utilisation sqrt-hold adaptive oracle'
      return
      ;;
    "navtalk bench scaler --wait-probability")
      :
      return
      ;;
    "navtalk bench scaler --knob")
      :
      return
      ;;
    "navtalk bench scaler --seed")
      :
      return
      ;;
    "navtalk bench scaler --lead-s")
      :
      return
      ;;
    "navtalk bench scaler --lead-sigma")
      :
      return
      ;;
    "navtalk bench scaler --slots")
      :
      return
      ;;
    "navtalk bench scaler --local-gpus")
      :
      return
      ;;
    "navtalk bench scaler --usd-per-hour")
      :
      return
      ;;
    "navtalk bench scaler --patience-s")
      :
      return
      ;;
    "navtalk bench scaler --hold-down-s")
      :
      return
      ;;
    "navtalk bench scaler --utilisation-least")
      :
      return
      ;;
    "navtalk bench serve --url")
      :
      return
      ;;
    "navtalk bench serve --admin-url")
      :
      return
      ;;
    "navtalk bench serve --sessions")
      :
      return
      ;;
    "navtalk bench serve --duration")
      :
      return
      ;;
    "navtalk bench serve --interrupts")
      :
      return
      ;;
    "navtalk bench serve --connects")
      :
      return
      ;;
    "navtalk bench serve --avatar")
      :
      return
      ;;
    "navtalk bench serve --width")
      :
      return
      ;;
    "navtalk bench serve --audio")
      _navtalk_paths -f
      return
      ;;
    "navtalk bench serve --message-ms")
      :
      return
      ;;
    "navtalk bench serve --relay")
      :
      return
      ;;
    "navtalk model verify --device")
      :
      return
      ;;
    "navtalk model verify --precision")
      _navtalk_words 'auto fp32 bf16 fp16'
      return
      ;;
    "navtalk model verify --weight-format")
      _navtalk_words 'auto int8'
      return
      ;;
    "navtalk model pull --source")
      :
      return
      ;;
    "navtalk model push --name")
      :
      return
      ;;
    "navtalk model push --source")
      :
      return
      ;;
  esac
  case $command in
    "navtalk")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'infer job voices serve avatar pool key tenant bench model fix-filenames config completions'
      fi
      ;;
    "navtalk infer")
      if [[ $current == -* ]]; then
        _navtalk_words '--avatar --audio --text --text-file --voice --ssml --start --duration --output -o --output-dir --format --frames --fps --size --crf --bitrate --subtitles --force --models --device --decoder-device --no-graphs --weight-format --precision --threads --batch --sharpen --match-colour --no-match-colour --source --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk job")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'probe render submit wait fetch cancel run list status'
      fi
      ;;
    "navtalk job probe")
      if [[ $current == -* ]]; then
        _navtalk_words '--max-duration --text --voice --ssml --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_paths -f
      fi
      ;;
    "navtalk job render")
      if [[ $current == -* ]]; then
        _navtalk_words '--models --device --decoder-device --no-graphs --weight-format --precision --threads --batch --faces --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk job submit")
      if [[ $current == -* ]]; then
        _navtalk_words '--avatar --audio --text --voice --csv --folder --format --size --fps --priority --webhook --wait --output -o --force --url --key-file --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk job wait")
      if [[ $current == -* ]]; then
        _navtalk_words '--url --key-file --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk job fetch")
      if [[ $current == -* ]]; then
        _navtalk_words '--output -o --force --url --key-file --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk job cancel")
      if [[ $current == -* ]]; then
        _navtalk_words '--url --key-file --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk job run")
      if [[ $current == -* ]]; then
        _navtalk_words '--csv --folder --output-dir --format --state --force --avatar --voice --models --device --decoder-device --no-graphs --weight-format --precision --threads --batch --source --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk job list")
      if [[ $current == -* ]]; then
        _navtalk_words '--url --key-file --state --only --limit --after --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk job status")
      if [[ $current == -* ]]; then
        _navtalk_words '--url --key-file --state --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk voices")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk serve")
      if [[ $current == -* ]]; then
        _navtalk_words '--listen --worker --admin-listen --drain-s --source --slots --device --decoder-device --no-graphs --weight-format --precision --video-encoder --threads --models --avatar --name --token-file --gateway-silence-s --first-contact-s --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk avatar")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'list prepare show import export pull push'
      fi
      ;;
    "navtalk avatar list")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk avatar prepare")
      if [[ $current == -* ]]; then
        _navtalk_words '--video --image --images --still-motion --no-blinks --idle --listening --action --output -o --id --face-box --face-boxes --bbox-shift --extra-margin --parsing-mode --left-cheek-width --right-cheek-width --face --no-smoothing --fps --lossless --loop --voice --sharpen --match-colour --preview --models --device --face-precision --face-batch --no-latents --force --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk avatar show")
      if [[ $current == -* ]]; then
        _navtalk_words '--preview --force --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_avatars
      fi
      ;;
    "navtalk avatar import")
      if [[ $current == -* ]]; then
        _navtalk_words '--id --fps --loop --voice --sharpen --match-colour --force --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk avatar export")
      if [[ $current == -* ]]; then
        _navtalk_words '--models --force --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_avatars
      fi
      ;;
    "navtalk avatar pull")
      if [[ $current == -* ]]; then
        _navtalk_words '--source --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk avatar push")
      if [[ $current == -* ]]; then
        _navtalk_words '--source --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_avatars
      fi
      ;;
    "navtalk pool")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'status scale add token drain wake pause remove events audit cost'
      fi
      ;;
    "navtalk pool status")
      if [[ $current == -* ]]; then
        _navtalk_words '--watch --every --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool scale")
      if [[ $current == -* ]]; then
        _navtalk_words '--dry-run --watch --exit-code --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool add")
      if [[ $current == -* ]]; then
        _navtalk_words '--url --slots --dedicated-to --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool token")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool drain")
      if [[ $current == -* ]]; then
        _navtalk_words '--undo --notice-s --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool wake")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool pause")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool remove")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool events")
      if [[ $current == -* ]]; then
        _navtalk_words '--since --gpu --limit --follow --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool audit")
      if [[ $current == -* ]]; then
        _navtalk_words '--days --tolerance --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk pool cost")
      if [[ $current == -* ]]; then
        _navtalk_words '--days --by --csv --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk key")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'create list revoke'
      fi
      ;;
    "navtalk key create")
      if [[ $current == -* ]]; then
        _navtalk_words '--tenant --role --expires --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk key list")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk key revoke")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk tenant")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'list show set'
      fi
      ;;
    "navtalk tenant list")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk tenant show")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk tenant set")
      if [[ $current == -* ]]; then
        _navtalk_words '--plan --weight --max-rate --max-queued --max-running --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk bench")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'image pipeline faces jobs pool scaler serve'
      fi
      ;;
    "navtalk bench image")
      if [[ $current == -* ]]; then
        _navtalk_words '--size --batch --time --device --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk bench pipeline")
      if [[ $current == -* ]]; then
        _navtalk_words '--models --device --decoder-device --no-graphs --weight-format --precision --batch --threads --time --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk bench faces")
      if [[ $current == -* ]]; then
        _navtalk_words '--models --device --precision --size --batch --threads --time --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk bench jobs")
      if [[ $current == -* ]]; then
        _navtalk_words '--trace --generate --output --force --tenants --zipf --hours --arriving --batch-jobs --job-minutes --seed --sessions --live --live-load --session-s --gpus --max-gpus --lead-s --lead-sigma --rate --utilisation --whole-jobs --policy --flood --flooder --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk bench pool")
      if [[ $current == -* ]]; then
        _navtalk_words '--clients --store --slots --seconds --gpus --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk bench scaler")
      if [[ $current == -* ]]; then
        _navtalk_words '--trace --generate --output --force --days --sessions --session-s --policy --wait-probability --knob --seed --frontier --lead-s --lead-sigma --slots --local-gpus --usd-per-hour --patience-s --hold-down-s --utilisation-least --faults --no-reconcile --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk bench serve")
      if [[ $current == -* ]]; then
        _navtalk_words '--url --admin-url --sessions --duration --interrupts --connects --avatar --width --audio --message-ms --relay --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk model")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'check verify pull push'
      fi
      ;;
    "navtalk model check")
      if [[ $current == -* ]]; then
        _navtalk_words '--no-hash --tensors --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk model verify")
      if [[ $current == -* ]]; then
        _navtalk_words '--device --precision --weight-format --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk model pull")
      if [[ $current == -* ]]; then
        _navtalk_words '--source --help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk model push")
      if [[ $current == -* ]]; then
        _navtalk_words '--name --source --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk fix-filenames")
      if [[ $current == -* ]]; then
        _navtalk_words '--dry-run --help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_paths -d
      fi
      ;;
    "navtalk config")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'check show example'
      fi
      ;;
    "navtalk config check")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_paths -f
      fi
      ;;
    "navtalk config show")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk config example")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        :
      fi
      ;;
    "navtalk completions")
      if [[ $current == -* ]]; then
        _navtalk_words '--help -h --version --config --json --log-level --progress --no-color'
      else
        _navtalk_words 'bash zsh fish'
      fi
      ;;
  esac
}

complete -F _navtalk navtalk
