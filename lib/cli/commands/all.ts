/** Every command, in the order of the help. */
import type { CommandModule } from 'yargs';
import { exportCommand } from './export';
import { leaksCommand } from './leaks';
import { reportCommand } from './report';
import { slowCommand } from './slow';
import { statsCommand } from './stats';
import { treeCommand } from './tree';
import { viewCommand } from './view';

/** The commands that read logs. yargs parses their words as they come. */
export const LOG_COMMANDS = [
  statsCommand,
  leaksCommand,
  treeCommand,
  slowCommand,
  exportCommand,
  reportCommand,
  viewCommand,
] as unknown as readonly CommandModule[];

/** `run` and `completion` are named here alone, since main.ts reads their words before yargs does. */
export const COMMAND_NAMES: readonly string[] = [
  'run',
  ...LOG_COMMANDS.map(({ command }) => String(command).split(' ')[0]),
  'completion',
];

/** Arguments that may be given more than once. */
export const REPEATABLE: readonly string[] = ['log', 'allow'];
