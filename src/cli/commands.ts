/**
 * All commands of `correctables`. To add one, write a file with a `Command`, and add it to this
 * list.
 */
import { BACKUP } from './data/backup.ts';
import { CAUSAL } from './causal.ts';
import { CLUSTER } from './cluster.ts';
import type { Command } from './command.ts';
import { DATA } from './data/data.ts';
import { INSPECT } from './data/inspect.ts';
import { LABEL } from './label.ts';
import { SERVE } from './serve.ts';
import { SERVICE } from './service.ts';

export const COMMANDS: readonly Command[] = [
  SERVE,
  INSPECT,
  DATA,
  BACKUP,
  LABEL,
  SERVICE,
  CLUSTER,
  CAUSAL,
];
