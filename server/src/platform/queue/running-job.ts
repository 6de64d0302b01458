/** The job for which the current code runs, for rules that apply to all code that a job calls. */
import { AsyncLocalStorage } from 'node:async_hooks';

export type RunningJob = { readonly name: string; readonly writesFilesOf?: string };

export const runningJob = new AsyncLocalStorage<RunningJob>();
