/** Other places to show a clip: picture-in-picture, fullscreen, another device. */

/** Safari's prefixed APIs, for iPhones and for versions before the standard. */
type SafariVideo = {
  webkitSupportsPresentationMode?: (mode: string) => boolean;
  webkitSetPresentationMode?: (mode: string) => void;
  webkitEnterFullscreen?: () => void;
  webkitShowPlaybackTargetPicker?: () => void;
};
type SafariElement = { webkitRequestFullscreen?: () => void };
type SafariDocument = {
  webkitFullscreenElement?: Element | null;
  webkitExitFullscreen?: () => void;
};

const floating = 'picture-in-picture';

export function canFloat(video: HTMLVideoElement): boolean {
  if ('pictureInPictureEnabled' in document && 'requestPictureInPicture' in video) {
    return document.pictureInPictureEnabled && !video.disablePictureInPicture;
  }
  return (video as SafariVideo).webkitSupportsPresentationMode?.(floating) === true;
}

export function float(video: HTMLVideoElement): void {
  if ('requestPictureInPicture' in video) void video.requestPictureInPicture().catch(() => {});
  else (video as SafariVideo).webkitSetPresentationMode?.(floating);
}

export function canFill(host: HTMLElement, video: HTMLVideoElement): boolean {
  if ('requestFullscreen' in host) return document.fullscreenEnabled;
  const { webkitRequestFullscreen } = host as SafariElement;
  return webkitRequestFullscreen !== undefined || 'webkitEnterFullscreen' in video;
}

/** Toggles fullscreen for the feed, or for its clip on phones that support only that. */
export function fill(host: HTMLElement, video: HTMLVideoElement): void {
  const page = document as Document & SafariDocument;
  if ((page.fullscreenElement ?? page.webkitFullscreenElement ?? null) !== null) {
    if ('exitFullscreen' in page) void page.exitFullscreen().catch(() => {});
    else (page as SafariDocument).webkitExitFullscreen?.();
    return;
  }
  if ('requestFullscreen' in host) void host.requestFullscreen().catch(() => {});
  else if ('webkitRequestFullscreen' in host) (host as SafariElement).webkitRequestFullscreen?.();
  else (video as SafariVideo).webkitEnterFullscreen?.();
}

/** Only native HLS can be cast; a clip fed by a script can't. */
export function canCast(video: HTMLVideoElement): boolean {
  if (video.disableRemotePlayback) return false;
  return 'webkitShowPlaybackTargetPicker' in video || 'remote' in video;
}

export function cast(video: HTMLVideoElement): void {
  const { webkitShowPlaybackTargetPicker: pick } = video as SafariVideo;
  if (pick !== undefined) pick.call(video);
  else void video.remote.prompt().catch(() => {});
}
