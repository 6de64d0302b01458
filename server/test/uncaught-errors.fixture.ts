/** Loaded into a service by `NODE_OPTIONS=--import`: each SIGUSR2 causes an unhandled rejection. */
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('planted rejection'));
});
