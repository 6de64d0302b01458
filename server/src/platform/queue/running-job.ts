/** The job that the present code runs for, for rules that hold for whatever a job calls. */
import { AsyncLocalStorage } from 'node:async_hooks';

export type RunningJob = { readonly name: string; readonly writesFilesOf?: string };

export const runningJob = new AsyncLocalStorage<RunningJob>();
