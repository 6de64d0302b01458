// Runs before the npm scripts. Plain JavaScript, because the Node that runs it may be too old.
const leastMajor = 24;

if (Number(process.versions.node.split('.')[0]) < leastMajor) {
  process.stderr.write(
    `Reelfeed brings its own Node ${leastMajor}, and this is ${process.version}: the install scripts ` +
      'of its packages were skipped.\nRun `npm rebuild`, which catches up on them, and start again.\n',
  );
  process.exitCode = 1;
}
