export const actors = ['key', 'person', 'command_line', 'service'] as const;
