import { runService } from '../run.ts';
import type { Command } from './command.ts';

export const start: Command = ({ env }) => runService(env);
