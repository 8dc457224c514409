/** What the command says of itself. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { printMessage } from '../../lib/cli/terminal/output';

describe('a sentence of the command', () => {
  function said(context: TestContext, terminal: { isTTY: boolean; columns: number }): string {
    let written = '';
    context.mock.method(process.stderr, 'write', (text: string) => {
      written += text;
      return true;
    });
    const { isTTY, columns } = process.stderr;
    Object.assign(process.stderr, terminal);
    try {
      printMessage('the log a.ndjson could not be opened: it is a folder [ERR_ASYNC_TRACER_INPUT]');
    } finally {
      Object.assign(process.stderr, { isTTY, columns });
      context.mock.reset();
    }
    return written;
  }

  it('is broken at spaces in a terminal', (context) => {
    assert.equal(
      said(context, { isTTY: true, columns: 80 }),
      'async-tracer: the log a.ndjson could not be opened: it is a folder\n  [ERR_ASYNC_TRACER_INPUT]\n',
    );
  });

  it('is one line elsewhere, for programs that look for it', (context) => {
    assert.equal(
      said(context, { isTTY: false, columns: 80 }),
      'async-tracer: the log a.ndjson could not be opened: it is a folder [ERR_ASYNC_TRACER_INPUT]\n',
    );
  });
});
