// In place of a gateway and of a decoder, before the page's own scripts run: what the library sends and is sent.
// window.fakes: {sockets, decoders, posted, streams} in the order in which they came, and what a test switches.
(() => {
  const fakes = (window.fakes = {
    sockets: [],
    decoders: [],
    posted: [], // to the playback worklet
    streams: [], // of microphones
    levels: 0, // pieces of sound that microphones heard, sent or not
    hang: false, // new connections never open
    silent: false, // nothing comes by itself
    full: false, // nothing leaves a socket's buffer
    refuse: false, // decoders fail at once
    noCapture: false, // there is no worklet for a microphone
    permission: null, // a promise that microphones wait for
    skewMs: 0, // of performance.now()
  });
  const now = performance.now.bind(performance);
  performance.now = () => now() + fakes.skewMs;

  window.WebSocket = class {
    static OPEN = 1;
    readyState = 0;
    bufferedAmount = 0;
    sent = [];

    constructor() {
      fakes.sockets.push(this);
      if (!fakes.hang) setTimeout(() => this.#open());
    }

    // A frame that says nothing shows that the gateway is there.
    #open() {
      if (this.readyState !== 0) return;
      this.readyState = 1;
      this.onopen();
      setInterval(() => this.readyState === 1 && !fakes.silent && this.onmessage({ data: new ArrayBuffer(0) }), 1000);
    }

    send(data) {
      if (fakes.full) this.bufferedAmount += data.byteLength ?? data.length;
      this.sent.push(typeof data === "string" ? JSON.parse(data) : { type: "sound", bytes: data.byteLength });
    }

    close(code = null) {
      this.closed = code;
      this.readyState = 3;
    }

    // What the gateway does.
    tell(frame) {
      this.onmessage({ data: JSON.stringify(frame) });
    }

    /** kind as in docs/protocol.md; `sequence` of the picture. */
    media(kind, flags, sequence, timeUs, bytes = 640) {
      const view = new DataView(new ArrayBuffer(16 + bytes));
      view.setUint8(0, kind);
      view.setUint8(1, flags);
      view.setUint32(4, sequence, true);
      view.setBigInt64(8, BigInt(Math.round(timeUs)), true);
      this.onmessage({ data: view.buffer });
    }

    cut() {
      this.readyState = 3;
      this.onclose?.({ code: 1006 });
    }
  };

  window.VideoDecoder = class {
    state = "unconfigured";

    static async isConfigSupported() {
      return { supported: true };
    }

    constructor(callbacks) {
      Object.assign(this, callbacks);
      fakes.decoders.push(this);
    }

    configure(config) {
      this.config = config;
      this.state = "configured";
      if (fakes.refuse) queueMicrotask(() => this.fail());
    }

    fail() {
      if (this.state === "closed") return;
      this.state = "closed";
      this.error(new DOMException("refused", "NotSupportedError"));
    }

    // Any picture is red.
    decode({ timestamp }) {
      const canvas = new OffscreenCanvas(16, 16), context = canvas.getContext("2d");
      context.fillStyle = "red";
      context.fillRect(0, 0, 16, 16);
      this.output(new VideoFrame(canvas, { timestamp }));
    }

    close() {
      this.state = "closed";
    }
  };

  const Node = window.AudioWorkletNode;
  window.AudioWorkletNode = class extends Node {
    constructor(context, name, options) {
      if (fakes.noCapture && name === "navtalk-capture") throw new Error("no worklet");
      super(context, name, options);
      if (name === "navtalk-capture") this.port.addEventListener("message", () => (fakes.levels += 1));
      const post = this.port.postMessage.bind(this.port);
      if (name !== "navtalk-playback") return;
      this.port.postMessage = (message, transfer) => {
        fakes.posted.push(Object.keys(message)[0]);
        post(message, transfer);
      };
    }
  };

  const devices = navigator.mediaDevices, open = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async (wanted) => {
    const stream = await open(wanted);
    fakes.streams.push(stream);
    await fakes.permission;
    return stream;
  };
})();
