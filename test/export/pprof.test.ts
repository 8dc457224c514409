/** The profile, decoded by protobufjs and read by Go's own pprof. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { temporaryFolder } from '../cli/command';
import { decode, type Profile } from './decode';
import { assertClose, type Exported, exported, figuresByOp, HOLED, realLogs, write } from './logs';

const folder = temporaryFolder();
const TYPES = ['count', 'live', 'run', 'wait'];
const hasGo = spawnSync('go', ['version']).status === 0;
const results = new Map<string, Exported & { profile: Profile }>();

before(async () => {
  const kinds = {
    'of a program and its worker': realLogs(folder),
    'in which records are missing': [write(folder, 'holed.ndjson', HOLED)],
  };
  for (const [name, logs] of Object.entries(kinds)) {
    const result = await exported(logs, 'pprof');
    results.set(name, {
      ...result,
      profile: decode<Profile>('profile.proto', 'Profile', gunzipSync(result.bytes)),
    });
  }
});

/** The sums of one sample type by op, as `-top` shows them. */
function sumsByOp(
  { sample, location, function: functions, stringTable }: Profile,
  type: number,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { locationId, value } of sample) {
    const { line } = location.find(({ id }) => id === locationId[0])!;
    const { name } = functions.find(({ id }) => id === line[0].functionId)!;
    sums.set(stringTable[name], (sums.get(stringTable[name]) ?? 0) + value[type]);
  }
  return sums;
}

function nsOf(text: string): number {
  const [, number, unit] = /^([\d.]+)(ns|us|ms|s|mins|hrs)?$/.exec(text)!;
  return (
    Number(number) *
    ({ ns: 1, us: 1e3, ms: 1e6, s: 1e9, mins: 60e9, hrs: 3600e9 } as Record<string, number>)[unit ?? 'ns']
  );
}

for (const kind of ['of a program and its worker', 'in which records are missing']) {
  describe(`the profile of a log ${kind}`, () => {
    it('has the figures of stats by op', () => {
      const { profile, stats } = results.get(kind)!;
      const sums = TYPES.map((_, i) => sumsByOp(profile, i));
      for (const [op, { count, live, runUs, waitUs, runs }] of figuresByOp(stats)) {
        assert.equal(sums[0].get(op), count, op);
        assert.equal(sums[1].get(op), live, op);
        assertClose(sums[2].get(op)! / 1000, runUs, runs, `run of ${op}`);
        assertClose(sums[3].get(op)! / 1000, waitUs, count, `wait of ${op}`);
      }
      assert.equal(sums[0].size, figuresByOp(stats).size);
    });

    it('refers to locations, functions and texts that it has', () => {
      const { profile } = results.get(kind)!;
      const { sample, location, function: functions, stringTable, sampleType, defaultSampleType } = profile;
      assert.equal(stringTable[0], '');
      assert.equal(new Set(stringTable).size, stringTable.length);
      assert.deepEqual(
        sampleType.map(({ type, unit }) => `${stringTable[type]} ${stringTable[unit]}`),
        ['count count', 'live count', 'run nanoseconds', 'wait nanoseconds'],
      );
      assert.equal(stringTable[defaultSampleType], 'wait');
      const locations = new Set(location.map(({ id }) => id));
      const ids = new Set(functions.map(({ id }) => id));
      assert.ok(
        sample.every(
          ({ locationId }) => locationId.length > 0 && locationId.every((id) => locations.has(id)),
        ),
      );
      assert.ok(location.every(({ line }) => line.every(({ functionId }) => ids.has(functionId))));
      assert.ok(
        functions.every(
          ({ name, filename }) => name < stringTable.length && (filename ?? 0) < stringTable.length,
        ),
      );
      assert.ok(sample.every(({ label }) => stringTable[label[0].key] === 'area'));
    });

    for (const [i, type] of TYPES.entries()) {
      it(`is shown by go tool pprof -top -sample_index=${type} with these sums`, {
        skip: hasGo ? false : 'go is not installed',
      }, () => {
        const { profile, bytes } = results.get(kind)!;
        const file = path.join(folder, 'profile.pb.gz');
        writeFileSync(file, bytes);
        const { stdout, stderr, status } = spawnSync(
          'go',
          [
            'tool',
            'pprof',
            '-top',
            '-nodecount=1000',
            '-nodefraction=0',
            '-unit=ns',
            `-sample_index=${type}`,
            file,
          ],
          { encoding: 'utf8', env: { ...process.env, PPROF_TMPDIR: folder } },
        );
        assert.equal(status, 0, stderr);
        const shown = new Map(
          [...stdout.matchAll(/^ *(\S+) +\S+% +\S+% +\S+ +\S+% +(.*)$/gm)].map(([, flat, name]) => [
            name,
            nsOf(flat),
          ]),
        );
        for (const [op, sum] of [...sumsByOp(profile, i)].filter(([, sum]) => sum > 0)) {
          assert.equal(shown.get(op), sum, `${op} in ${stdout}`);
        }
      });
    }
  });
}
