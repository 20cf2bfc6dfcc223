# fish completion for navtalk, made by `navtalk completions fish`: do not edit.

function __navtalk_at
    set -l commands 'infer' 'avatar' 'avatar list' 'avatar prepare' 'avatar show' 'bench' 'bench image' 'bench pipeline' 'model' 'model check' 'model verify' 'fix-filenames' 'config' 'config check' 'config show' 'config example' 'completions'
    set -l with_value --config --log-level --avatar --audio --text --voice --output --frames --models --device --precision --threads --batch --fps --sharpen --video --image --images --output --id --face-box --face-boxes --fps --models --size --batch --time --models --device --precision --batch --threads --time --device --precision
    set -l path ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word $with_value
            set skip 1
        else if contains -- (string trim -- "$path $word") $commands
            set path (string trim -- "$path $word")
        end
    end
    test "$path" = "$argv"
end

complete -c navtalk -f
complete -c navtalk -l help -s h -d 'Print this help, or that of a command, and exit'
complete -c navtalk -l version -d 'Print the version and exit'
complete -c navtalk -l config -r -F -d 'Configuration file (TOML)'
complete -c navtalk -l json -d 'Print results and errors as JSON'
complete -c navtalk -l log-level -x -a 'trace debug info warn error off' -d 'What to log on standard error'
complete -c navtalk -l no-color -d 'Print without colours (also NO_COLOR)'
complete -c navtalk -n '__navtalk_at ' -a infer -d 'Render a talking avatar to a video'
complete -c navtalk -n '__navtalk_at ' -a avatar -d 'Prepare avatars and look at them'
complete -c navtalk -n '__navtalk_at ' -a bench -d 'Measure how fast this machine is'
complete -c navtalk -n '__navtalk_at ' -a model -d 'Check model files and prove their numbers'
complete -c navtalk -n '__navtalk_at ' -a fix-filenames -d 'Take carriage returns out of file and folder names'
complete -c navtalk -n '__navtalk_at ' -a config -d 'Check and show the configuration'
complete -c navtalk -n '__navtalk_at ' -a completions -d 'Print a script that completes navtalk\'s commands in a shell'
complete -c navtalk -n '__navtalk_at infer' -l avatar -x -a '(__fish_complete_directories)' -d 'Avatar: its folder, or its id'
complete -c navtalk -n '__navtalk_at infer' -l audio -r -F -d 'Speech: any audio file'
complete -c navtalk -n '__navtalk_at infer' -l text -x -d 'Speech: a text for espeak-ng to speak'
complete -c navtalk -n '__navtalk_at infer' -l voice -x -d 'espeak-ng\'s voice for --text'
complete -c navtalk -n '__navtalk_at infer' -l output -r -F -d 'Video to write (MP4; the avatar\'s id if not given)'
complete -c navtalk -n '__navtalk_at infer' -l frames -x -a '(__fish_complete_directories)' -d 'Folder for every frame as PNG'
complete -c navtalk -n '__navtalk_at infer' -l force -d 'Replace what is already there'
complete -c navtalk -n '__navtalk_at infer' -l models -x -a '(__fish_complete_directories)' -d 'MuseTalk\'s checkpoint folder (the demo\'s if not given)'
complete -c navtalk -n '__navtalk_at infer' -l device -x -d 'cpu, cuda or cuda:N'
complete -c navtalk -n '__navtalk_at infer' -l precision -x -a 'auto fp32 bf16 fp16' -d 'What the nets compute in; auto takes the fastest, net by net'
complete -c navtalk -n '__navtalk_at infer' -l threads -x -d 'Threads for the nets (0: every core)'
complete -c navtalk -n '__navtalk_at infer' -l batch -x -d 'Frames in one pass through the nets (0: chosen)'
complete -c navtalk -n '__navtalk_at infer' -l fps -x -d 'Frames a second; the model was trained at 25'
complete -c navtalk -n '__navtalk_at infer' -l sharpen -x -d 'Unsharp mask on the face, such as 1.2'
complete -c navtalk -n '__navtalk_at avatar' -a list -d 'List the avatars in a folder'
complete -c navtalk -n '__navtalk_at avatar' -a prepare -d 'Make an avatar from a video or pictures'
complete -c navtalk -n '__navtalk_at avatar' -a show -d 'Say what an avatar is, and whether its files are whole'
complete -c navtalk -n '__navtalk_at avatar list' -x -a '(__fish_complete_directories)'
complete -c navtalk -n '__navtalk_at avatar prepare' -l video -r -F -d 'Video of one person who looks at the camera'
complete -c navtalk -n '__navtalk_at avatar prepare' -l image -r -F -d 'A still: an avatar of one frame'
complete -c navtalk -n '__navtalk_at avatar prepare' -l images -x -a '(__fish_complete_directories)' -d 'Folder of pictures, one a frame, by name'
complete -c navtalk -n '__navtalk_at avatar prepare' -l output -x -a '(__fish_complete_directories)' -d 'The avatar\'s folder'
complete -c navtalk -n '__navtalk_at avatar prepare' -l id -x -d 'The avatar\'s id; default: the output folder\'s name'
complete -c navtalk -n '__navtalk_at avatar prepare' -l face-box -x -d 'Where the face is in every frame, from the brow to just below the chin, instead of finding it'
complete -c navtalk -n '__navtalk_at avatar prepare' -l face-boxes -r -F -d 'The same frame by frame: {"boxes": [[x1,y1,x2,y2] or null, ...]}'
complete -c navtalk -n '__navtalk_at avatar prepare' -l fps -x -d 'Frames a second of the avatar'
complete -c navtalk -n '__navtalk_at avatar prepare' -l models -x -a '(__fish_complete_directories)' -d 'MuseTalk\'s checkpoint folder, for the latents'
complete -c navtalk -n '__navtalk_at avatar prepare' -l no-latents -d 'Make no latents: they are made whenever the avatar is used'
complete -c navtalk -n '__navtalk_at avatar prepare' -l force -d 'Replace an avatar that is there already'
complete -c navtalk -n '__navtalk_at avatar show' -x -a '(__fish_complete_directories)'
complete -c navtalk -n '__navtalk_at bench' -a image -d 'Time the image operations: resize, blur, sharpen, blend, colour'
complete -c navtalk -n '__navtalk_at bench' -a pipeline -d 'Time every stage from audio to finished frame, per precision and batch'
complete -c navtalk -n '__navtalk_at bench image' -l size -x -a '512 720p 1080p' -d 'Picture sizes, separated by commas'
complete -c navtalk -n '__navtalk_at bench image' -l batch -x -d 'Pictures at a time, separated by commas'
complete -c navtalk -n '__navtalk_at bench image' -l time -x -d 'Seconds to measure each operation for'
complete -c navtalk -n '__navtalk_at bench pipeline' -l models -x -a '(__fish_complete_directories)' -d 'MuseTalk\'s checkpoint folder'
complete -c navtalk -n '__navtalk_at bench pipeline' -l device -x -d 'cpu, cuda or cuda:N'
complete -c navtalk -n '__navtalk_at bench pipeline' -l precision -x -a 'auto fp32 bf16 fp16' -d 'Number formats, separated by commas; all that this CPU has if not given'
complete -c navtalk -n '__navtalk_at bench pipeline' -l batch -x -d 'Frames at a time, separated by commas'
complete -c navtalk -n '__navtalk_at bench pipeline' -l threads -x -d 'Threads of the nets; 0 takes every core'
complete -c navtalk -n '__navtalk_at bench pipeline' -l time -x -d 'Seconds to measure each stage for'
complete -c navtalk -n '__navtalk_at model' -a check -d 'Say what a checkpoint folder holds and whether it fits'
complete -c navtalk -n '__navtalk_at model' -a verify -d 'Compare every stage with what the Python reference computed'
complete -c navtalk -n '__navtalk_at model check' -l no-hash -d 'Leave out the SHA-256 sums, which take reading every byte'
complete -c navtalk -n '__navtalk_at model check' -l tensors -d 'List every tensor with its dtype and shape'
complete -c navtalk -n '__navtalk_at model check' -x -a '(__fish_complete_directories)'
complete -c navtalk -n '__navtalk_at model verify' -l device -x -d 'Where the nets run: cpu, cuda or cuda:N'
complete -c navtalk -n '__navtalk_at model verify' -l precision -x -a 'auto fp32 bf16 fp16' -d 'What the nets compute in'
complete -c navtalk -n '__navtalk_at model verify' -x -a '(__fish_complete_directories)'
complete -c navtalk -n '__navtalk_at fix-filenames' -l dry-run -d 'Change nothing, show what would be done'
complete -c navtalk -n '__navtalk_at fix-filenames' -x -a '(__fish_complete_directories)'
complete -c navtalk -n '__navtalk_at config' -a check -d 'Say whether a configuration file is good, and what is wrong where'
complete -c navtalk -n '__navtalk_at config' -a show -d 'Print the values in effect, and where each comes from'
complete -c navtalk -n '__navtalk_at config' -a example -d 'Print a commented configuration file with every key at its default'
complete -c navtalk -n '__navtalk_at config check' -F
complete -c navtalk -n '__navtalk_at completions' -x -a 'bash zsh fish'
