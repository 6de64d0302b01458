/** The same as `export-kills.test.ts`, with ten million events and five kills of each export. */
process.env['EXPORTED_EVENTS'] ??= '10000000';
process.env['EXPORT_KILLS'] ??= '5';
await import('./export-kills.test.ts');
