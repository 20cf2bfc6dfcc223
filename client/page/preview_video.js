// The part of an avatar's preview that is shown: of an avatar with several clips, the one that silence shows.
const FALLBACK_MS = 40; // between two looks at the time, where the browser does not tell of each picture
const LAST_S = 0.045; // the last picture at 25 a second begins so long before the part ends; seeking takes its place
const SEEK_S = 0.005; // into the first picture, so that no rounding leads to the one before it

const parts = new WeakMap(); // video: [from, to], or null for all of it

function look(video, time) {
  const part = parts.get(video);
  if (part && (time < part[0] - SEEK_S || time >= part[1] - LAST_S)) video.currentTime = part[0] + SEEK_S;
}

function watch(video) {
  video.addEventListener("loadedmetadata", () => look(video, 0));
  video.addEventListener("ended", () => {
    look(video, video.duration);
    video.play().catch(() => {});
  });
  if (video.requestVideoFrameCallback) {
    const each = (_, picture) => {
      look(video, picture.mediaTime);
      video.requestVideoFrameCallback(each);
    };
    video.requestVideoFrameCallback(each);
  } else {
    video.addEventListener("playing", () => {
      const timer = setInterval(() => {
        look(video, video.currentTime);
        if (video.paused) clearInterval(timer);
      }, FALLBACK_MS);
    });
  }
}

/** Plays the preview at `url` in the video again and again: all of it, or `part` = [from, to] in seconds. */
export function showPreview(video, url, part) {
  if (!parts.has(video)) watch(video);
  parts.set(video, part ?? null);
  video.loop = !part;
  video.src = url;
}
