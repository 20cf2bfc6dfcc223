// A microphone as pieces of sound at the session's rate.

export class Microphone {
  /**
   * Asks for permission. `options`: {deviceId, rate, onPiece(Float32Array), onLevel(0..1), onEnded()}.
   * Rejects with the browser's DOMException (NotAllowedError, NotFoundError, NotReadableError...).
   */
  static async open(context, options) {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: {
        deviceId: options.deviceId ? { exact: options.deviceId } : undefined,
        channelCount: 1,
        echoCancellation: true,
        noiseSuppression: true,
        autoGainControl: true,
      },
    });
    try {
      return new Microphone(context, stream, options);
    } catch (error) {
      for (const track of stream.getTracks()) track.stop();
      throw error;
    }
  }

  constructor(context, stream, { rate, onPiece, onLevel, onEnded }) {
    this.stream = stream;
    /** While false, its level is shown and nothing is sent. */
    this.sending = false;
    const [track] = stream.getAudioTracks();
    this.label = track.label;
    this.deviceId = track.getSettings().deviceId;
    track.onended = () => onEnded?.();
    this.source = new MediaStreamAudioSourceNode(context, { mediaStream: stream });
    this.node = new AudioWorkletNode(context, "navtalk-capture", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
      processorOptions: { rate },
    });
    this.node.port.onmessage = ({ data }) => {
      onLevel?.(data.level);
      if (this.sending) onPiece(data.piece);
    };
    this.source.connect(this.node);
  }

  close() {
    for (const track of this.stream.getTracks()) track.stop();
    this.source.disconnect();
    this.node.disconnect();
    this.node.port.close();
  }
}

/** Microphones as {deviceId, label}; labels are empty until permission was given. */
export async function microphones() {
  const devices = (await navigator.mediaDevices?.enumerateDevices?.()) ?? [];
  return devices
    .filter((device) => device.kind === "audioinput" && device.deviceId !== "")
    .map(({ deviceId, label }) => ({ deviceId, label }));
}
