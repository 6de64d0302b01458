/**
 * FFmpeg's build of whisper.cpp looks for Vulkan on start-up and crashes if the loader is not
 * installed, even if no GPU will be used.
 */
export function findVulkanProblem(): string | null {
  if (process.platform !== 'linux') return null;
  try {
    process.dlopen({ exports: {} }, 'libvulkan.so.1');
  } catch (error) {
    // An existing library is loaded, then rejected because it is not a Node addon.
    const isMissing = error instanceof Error && error.message.includes('cannot open shared object');
    if (isMissing) return 'libvulkan.so.1 is missing. Install the Vulkan loader (libvulkan1).';
  }
  return null;
}
