#!/usr/bin/env bash
# usage: tools/golden/committed.sh   makes tests/golden/ again: three tiny models, one a container, and their golden files
# Small on purpose: a whisper state or a picture is a megabyte soon, so each file holds other groups.
. "$(dirname "$0")/../../scripts/environment"
python=$NAVTALK_CACHE/python/bin/python
out=tests/golden
# Half-strength branches: with full ones the reference's own bf16 is at the tolerance in nets this narrow (UNet 3.0e-2 of
# 3.3e-2, pipeline 39.0 dB for 40 dB).
model() { "$python" tools/golden/make_model.py "$out/$1" --residual-gain 0.5 "${@:2}"; }
golden() { "$python" tools/golden/make_golden.py "$out/$1" "$out/$2.safetensors" "${@:3}" >/dev/null; }

rm -rf "$out"
mkdir -p "$out"

# Two layers in whisper, heads that differ from block to block, half-precision weights.
model wide --container safetensors --dtype f16 --seed 1 --unet-channels 8,8,16,16 --unet-heads 1,2,4,2 --width 12
golden wide wide --groups mel,whisper,windows,encode,unet,decode --crops 1 --batch 1 --seed 1

# One layer in whisper, two a block in the UNet, a face that crosses the frame's top.
model deep --container zip --dtype f16 --seed 2 --width 24 --whisper-layers 1 --whisper-heads 3 --whisper-ffn 40 \
  --unet-channels 8,8,8,8 --unet-layers 2 --unet-heads 1 --unet-groups 8 --vae-groups 8
golden deep deep --groups encode,unet,compose --crops 1 --batch 1 --compose top-left --seed 2

# Three layers in whisper, two a block in the VAE, channels that are no power of two, 30 frames a second, two latents to go back and forth over,
# a face that crosses the frame's right edge.
model odd --container legacy --seed 3 --width 8 --whisper-layers 3 --whisper-heads 1 --whisper-ffn 24 \
  --unet-channels 6,6,6,12 --unet-heads 3 --unet-groups 2 --vae-channels 6,6,6,12 --vae-layers 2 --vae-groups 6
golden odd odd --groups windows,unet,compose,pipeline --samples 8000 --fps 30 --crops 2 --batch 2 --frames 3 --compose bottom-right --seed 3

chmod -R u=rwX,go=rX "$out"
