/**
 * The filter's build of whisper.cpp looks for Vulkan when it starts, and crashes where the loader is
 * not installed, even when no GPU is to be used.
 */
export function findVulkanProblem(): string | null {
  if (process.platform !== 'linux') return null;
  try {
    process.dlopen({ exports: {} }, 'libvulkan.so.1');
  } catch (error) {
    // What is found is loaded, and then refused because it is no addon of Node.
    const isMissing = error instanceof Error && error.message.includes('cannot open shared object');
    if (isMissing) return 'libvulkan.so.1 is missing. Install the Vulkan loader (libvulkan1).';
  }
  return null;
}
