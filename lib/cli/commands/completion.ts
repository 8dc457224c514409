/** `async-tracer completion`: the script comes from yargs; the help and the choice of the shell are here. */
import { TracerError } from '../../errors';
import { examples } from '../arguments/help';

export const COMPLETION_HELP = `Usage: async-tracer completion [bash|zsh]

Prints a script for completion, of the shell that is named or of the login.

${examples([
  ['source <(async-tracer completion bash)', 'for this shell'],
  ['async-tracer completion zsh >> ~/.zshrc', 'for all to come'],
])}
`;

/**
 * Makes yargs write the script of this shell. By itself it reads the login shell from these variables, which may be
 * another one than the shell in use.
 *
 * @throws TracerError ERR_ASYNC_TRACER_USAGE
 */
export function chooseShell(shell: string | undefined): void {
  if (shell === undefined) {
    return;
  }
  if (shell !== 'bash' && shell !== 'zsh') {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `There is completion for bash and zsh; got ${JSON.stringify(shell)}.`,
    );
  }
  process.env['SHELL'] = shell;
  delete process.env['ZSH_NAME'];
}
