import { runService } from '../app/run.ts';
import type { Command } from './command.ts';

export const start: Command = ({ env }) => runService(env);
