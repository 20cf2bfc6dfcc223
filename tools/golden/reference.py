"""MuseTalk 1.5's inference, stage by stage, with the libraries that the reference uses.

Arrays go in and come out as NumPy; the nets run in fp32 on the CPU, with nothing left to chance:
no TF32, no IPP in OpenCV, deterministic algorithms, the mean of the VAE's distribution.
"""

import math

import cv2
import numpy as np
import torch
from PIL import Image
from transformers import WhisperFeatureExtractor

SAMPLE_RATE = 16000
SEGMENT = 30 * SAMPLE_RATE
TOKENS_PER_SECOND = 50
PADDING = 2  # video frames of audio on either side of a window
TOKENS_PER_WINDOW = 2 * (2 * PADDING + 1)


def make_deterministic():
    """Switches everything off that could make two runs differ."""
    cv2.ipp.setUseIPP(False)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(True)


def mel_features(samples):
    """[N] to [S,80,3000]: whisper's features of every 30 s, the last segment padded with zeros."""
    extractor = WhisperFeatureExtractor()
    segments = [
        extractor(samples[i : i + SEGMENT], sampling_rate=SAMPLE_RATE, return_tensors="np")
        for i in range(0, len(samples), SEGMENT)
    ]
    features = [s.input_features for s in segments]
    return np.concatenate(features) if features else np.zeros((0, 80, 3000), np.float32)


@torch.inference_mode()
def whisper_states(nets, mel):
    """[S,80,3000] to [S,1500,L+1,D]: the encoder's hidden states, the last one normed."""
    states = []
    for segment in torch.from_numpy(mel):
        output = nets.whisper(segment[None], output_hidden_states=True)
        hidden = output.hidden_states
        # Releases of transformers record states differently: only these are the reference's.
        if len(hidden) != len(nets.whisper.layers) + 1:
            raise SystemExit(f"whisper gave {len(hidden)} hidden states")
        if not torch.equal(hidden[-1], output.last_hidden_state):
            raise SystemExit("whisper's last hidden state is not the normed one")
        states.append(torch.stack(hidden, dim=2))
    return torch.cat(states).numpy()


def context_windows(states, sample_count, fps):
    """[S,1500,L+1,D] to [n,10*(L+1),D]: what each of the n video frames sees, without positions."""
    rate = int(fps)
    frames = math.floor((sample_count / SAMPLE_RATE) * rate)
    tokens = math.floor((sample_count / SAMPLE_RATE) * TOKENS_PER_SECOND)
    tokens_per_frame = TOKENS_PER_SECOND / rate
    padding = math.ceil(tokens_per_frame)

    layers, width = states.shape[2:]
    audio = states.reshape(-1, layers, width)[:tokens]

    def zeros(count):
        return np.zeros((count, layers, width), np.float32)

    # Full zeros also for clips of a few tokens, where the reference's own slicing falls short; and
    # ten more than it has, for rates above 50 whose last windows reach beyond.
    before = zeros(PADDING * padding)
    after = zeros(3 * PADDING * padding + TOKENS_PER_WINDOW)
    padded = np.concatenate([before, audio, after])
    starts = [math.floor(i * tokens_per_frame) for i in range(frames)]
    windows = [padded[s : s + TOKENS_PER_WINDOW].reshape(-1, width) for s in starts]
    return np.stack(windows) if windows else np.zeros((0, TOKENS_PER_WINDOW * layers, width), "f4")


def add_positions(windows):
    """Adds the sinusoidal table, which restarts in every window."""
    _, rows, width = windows.shape
    table = torch.zeros(rows, width)
    position = torch.arange(0, rows, dtype=torch.float32).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return windows + table.numpy()


def _vae_input(image, masked):
    """[256,256,3] BGR bytes to [1,3,256,256] in [-1,1]."""
    rgb = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
    # In torch's own layout: in channels_last its GroupNorm loses digits.
    x = torch.from_numpy(np.ascontiguousarray((rgb / 255.0).transpose(2, 0, 1), np.float32))
    if masked:
        x[:, x.shape[1] // 2 :] = 0
    return ((x - 0.5) / 0.5)[None]


@torch.inference_mode()
def encode(nets, images):
    """[K,256,256,3] BGR to latents [K,8,32,32]: masked, then reference, mean times the scale."""
    scale = nets.vae.config.scaling_factor
    latents = []
    for image in images:
        halves = [nets.vae.encode(_vae_input(image, m)).latent_dist.mean for m in (True, False)]
        latents.append(scale * torch.cat(halves, dim=1))
    return torch.cat(latents).numpy()


@torch.inference_mode()
def unet(nets, latent, context):
    """[B,8,32,32] and [B,T,D] with positions to [B,4,32,32]; t = 0, one pass."""
    timestep = torch.tensor([0])
    outputs = [
        nets.unet(z[None], timestep, encoder_hidden_states=c[None]).sample
        for z, c in zip(torch.from_numpy(latent), torch.from_numpy(context), strict=True)
    ]
    return torch.cat(outputs).numpy()


@torch.inference_mode()
def decode_raw(nets, latent):
    """[B,4,32,32], still scaled, to the decoder's output [B,3,256,256]."""
    scale = 1 / nets.vae.config.scaling_factor
    pictures = [nets.vae.decode(scale * z[None]).sample for z in torch.from_numpy(latent)]
    return torch.cat(pictures).numpy()


def faces(raw):
    """The decoder's output to [B,256,256,3] BGR bytes."""
    image = (torch.from_numpy(raw) / 2 + 0.5).clamp(0, 1)
    image = image.permute(0, 2, 3, 1).float().numpy()
    return np.ascontiguousarray((image * 255).round().astype("uint8")[..., ::-1])


def compose(frame, face, box, mask, crop_box):
    """Pastes the face into the frame: OpenCV's resize, Pillow's crop and paste."""
    x1, y1, x2, y2 = box
    xs, ys, xe, ye = crop_box
    body = _pillow(frame)
    large = body.crop((xs, ys, xe, ye))
    large.paste(_pillow(cv2.resize(face, (x2 - x1, y2 - y1))), (x1 - xs, y1 - ys, x2 - xs, y2 - ys))
    body.paste(large, (xs, ys), Image.fromarray(mask).convert("L"))
    return np.ascontiguousarray(np.array(body)[:, :, ::-1])


def _pillow(bgr):
    return Image.fromarray(np.ascontiguousarray(bgr[:, :, ::-1]))


def ping_pong(t, count):
    """Index into `count` avatar frames for output frame t: 0...n-1, n-1...0, and again."""
    phase = t % (2 * count)
    return phase if phase < count else 2 * count - 1 - phase
