// What this browser lacks for a session.

const CODEC = "avc1.42C01F";

/**
 * Why there can be no session here: "insecure" (a page that was not loaded by https or from this
 * machine), "webcodecs", "h264", "worklet"; null: there can be one.
 */
export async function missingFeature() {
  if (!globalThis.isSecureContext) return "insecure";
  if (!globalThis.AudioWorkletNode) return "worklet";
  if (!globalThis.VideoDecoder) return "webcodecs";
  try {
    const { supported } = await VideoDecoder.isConfigSupported({ codec: CODEC, optimizeForLatency: true });
    return supported ? null : "h264";
  } catch {
    return "h264";
  }
}
