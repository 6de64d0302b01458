/** Other places to show a clip in: a small window, the whole screen, another device. */

/** Safari's own names, for iPhones and for versions before the standard. */
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

/** Fills the screen with the feed, or on phones that can't, with its clip; or takes it back. */
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

/** A clip that a script feeds can't go to another device: only the browser's own HLS can. */
export function canCast(video: HTMLVideoElement): boolean {
  if (video.disableRemotePlayback) return false;
  return 'webkitShowPlaybackTargetPicker' in video || 'remote' in video;
}

export function cast(video: HTMLVideoElement): void {
  const { webkitShowPlaybackTargetPicker: pick } = video as SafariVideo;
  if (pick !== undefined) pick.call(video);
  else void video.remote.prompt().catch(() => {});
}
