/** The folder in which traced processes tell `run` of their logs. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { openSession } from '../../lib/cli/run/session';
import { TracerError } from '../../lib/errors';
import { FIRST_FILE, LOGS_FILE } from '../../lib/trace/preload/output';

describe('session', () => {
  it('lists the logs that were begun, each once, without a line that is not whole yet', () => {
    const session = openSession();
    const folder = session.variables['ASYNC_TRACER_SESSION'];
    assert.deepEqual(Object.keys(session.variables), ['ASYNC_TRACER_SESSION']);
    assert.deepEqual(session.logs(), []);
    fs.writeFileSync(path.join(folder, FIRST_FILE), '');
    fs.writeFileSync(path.join(folder, LOGS_FILE), '"/b.ndjson"\n"/a \\"x\\".ndjson"\n"/b.ndjson"\n"/c');
    assert.deepEqual(session.logs(), ['/b.ndjson', '/a "x".ndjson']);
    session.close();
    assert.ok(!fs.existsSync(folder));
    assert.deepEqual(session.logs(), []);
    session.close();
  });

  it('does not take a list that cannot be read for an empty one', () => {
    const session = openSession();
    fs.mkdirSync(path.join(session.variables['ASYNC_TRACER_SESSION'], LOGS_FILE));
    assert.throws(() => session.logs(), { code: 'EISDIR' });
    session.close();
  });

  it('says what to set where no temporary folder can be made', (context) => {
    const { TMPDIR } = process.env;
    context.after(() => {
      if (TMPDIR === undefined) {
        delete process.env['TMPDIR'];
      } else {
        process.env['TMPDIR'] = TMPDIR;
      }
    });
    const nowhere = path.join(os.tmpdir(), 'async-tracer-no-such-folder');
    process.env['TMPDIR'] = nowhere;
    assert.throws(openSession, (error) => {
      assert.ok(error instanceof TracerError);
      assert.equal(error.code, 'ERR_ASYNC_TRACER_DESTINATION');
      assert.match(
        error.message,
        /^A temporary folder could not be made: ENOENT: .*\. Set TMPDIR to a folder that can be written\.$/,
      );
      return true;
    });
  });
});
