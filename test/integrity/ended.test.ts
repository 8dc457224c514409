/**
 * Where promises are told by their ids alone: no operation that has ended, and none whose init was not seen, is taken for
 * one, however long ago that was, and no promise for another operation.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { OperationRecord } from '../../lib/log/event';
import { PAGE_SIZE, SLOTS } from '../../lib/trace/hook/recent-ids';
import { validateLog } from '../support/validate';
import { inFolder, runBare } from './program';

interface Run {
  said: Record<string, number>;
  records: OperationRecord[];
}

function run(scenario: string, options: object): Promise<Run> {
  return inFolder(async (folder) => {
    const log = path.join(folder, 'log.ndjson');
    const { code, stdout, stderr } = await runBare('ended.js', {
      args: [scenario, log, JSON.stringify(options)],
    });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    return {
      said: JSON.parse(stdout),
      records: validateLog(readFileSync(log, 'utf8')) as OperationRecord[],
    };
  });
}

/** What the records say of an operation, in order: its phases with the op, and of its init the parent. */
function story({ records }: Run, opid: number | undefined): string[] {
  return records.flatMap((record) =>
    record.opid === opid ? [`${record.phase} ${record.op}${parentOf(record)}`] : [],
  );
}

function parentOf(record: OperationRecord): string {
  return record.phase === 'init' ? ` of ${record.parentop}` : '';
}

function idOf({ records }: Run, op: string): number {
  return records.find((record) => record.phase === 'init' && record.op === op)?.opid as number;
}

const FEW = 5_000;
/** More than the table of what has ended reaches back. */
const MANY = PAGE_SIZE * SLOTS + 400_000;

describe('what has ended', { concurrency: 2 }, () => {
  for (const options of [{}, { promiseDestroy: false }, { promises: false }]) {
    for (const count of [FEW, MANY]) {
      const text = `${count} operations later, with ${JSON.stringify(options)}`;
      it(`${text}: an operation has no op after its destroy, and a promise keeps its own`, async () => {
        const traced = await run(`long ${count}`, options);
        const { said } = traced;
        const hasPromises = !('promises' in options);
        assert.deepEqual(story(traced, said['ended']), [
          'init ENDED of undefined',
          'destroy ENDED',
          'before undefined',
          'after undefined',
        ]);
        assert.deepEqual(story(traced, idOf(traced, 'IN_ENDED')), ['init IN_ENDED of undefined']);
        assert.deepEqual(story(traced, idOf(traced, 'NAMES_ENDED')), ['init NAMES_ENDED of undefined']);
        if (!hasPromises) {
          assert.deepEqual(
            traced.records.filter(({ op }) => op === 'PROMISE'),
            [],
          );
          return;
        }
        assert.deepEqual(story(traced, said['awaiting']).slice(0, 3), [
          'init PROMISE of PROMISE',
          'before PROMISE',
          'after PROMISE',
        ]);
        assert.deepEqual(story(traced, idOf(traced, 'IN_PROMISE')), ['init IN_PROMISE of PROMISE']);
        // What follows the old promise, and the promise of the async function, once all is over.
        const late = traced.records.filter(
          (record) => record.phase === 'init' && record.op === 'PROMISE' && record.opid > said['begin'],
        );
        assert.ok(late.length >= 2);
        for (const record of late) assert.equal(parentOf(record), ' of PROMISE');
      });
    }
  }
});

describe('a tracer that is enabled inside of a callback of a hook', () => {
  for (const options of [{}, { promiseDestroy: false }, { promises: false }]) {
    it(`knows no op of what began in there, with ${JSON.stringify(options)}`, async () => {
      const traced = await run('inside', options);
      const { unseen, seen } = traced.said;
      assert.deepEqual(story(traced, unseen), ['before undefined', 'after undefined', 'destroy undefined']);
      assert.deepEqual(story(traced, seen), ['init SEEN of undefined', 'before SEEN', 'after SEEN']);
      assert.deepEqual(story(traced, idOf(traced, 'IN_UNSEEN')), ['init IN_UNSEEN of undefined']);
    });
  }
});
