/** Loaded into a service by `NODE_OPTIONS=--import`: each SIGUSR2 is a rejection that nobody handles. */
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('planted rejection'));
});
