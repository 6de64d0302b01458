/** The job for which the current code runs, for rules that apply to everything a job calls. */
import { AsyncLocalStorage } from 'node:async_hooks';

export type RunningJob = { readonly name: string; readonly writesFilesOf?: string };

export const runningJob = new AsyncLocalStorage<RunningJob>();
