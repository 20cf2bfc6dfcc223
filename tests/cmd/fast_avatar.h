#pragma once

#include <string>

namespace navtalk::tests {

// a.wav, a second of a tone; an avatar of 60 pictures a second whose shade tells the time, with a face
// in the first one only, so that all others are shown untouched.
inline const std::string k_make_fast = R"(
ffmpeg -loglevel error -f lavfi -i sine=frequency=300:duration=1 -ar 16000 a.wav
mkdir p
ffmpeg -loglevel error -f lavfi -i "nullsrc=s=96x96:r=60,geq=lum='16+3*N':cb=128:cr=128,noise=alls=30" \
  -frames:v 60 p/%02d.png
python3 -c 'print("{\"boxes\": [[20,20,70,70]" + ", null" * 59 + "]}")' > boxes.json
navtalk avatar prepare --images p --face-boxes boxes.json --no-latents --fps 60 --loop --output fast 2> /dev/null
)";
inline const std::string k_say_fast =
    "navtalk infer --avatar ./fast --audio a.wav --progress none ";
inline const std::string k_probe =
    "ffprobe -loglevel error -show_entries "
    "stream=codec_name,width,height,r_frame_rate,nb_read_frames "
    "-count_frames -of compact=nokey=1:print_section=0 ";

}  // namespace navtalk::tests
