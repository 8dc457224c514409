import type { Ending, Mark } from '../subject/meter';
import type { FigureQuestion, Figures, Setting } from '../suite/question';
import { measure as measureSubject } from '../suite/subject';
import { variantOf } from '../variants/all';

const FIRST = 400_000;
const SECOND = 1_600_000;
const SHORT = 50;

interface Report {
  begin: Mark;
  end: Mark;
  ending: Ending;
  beforeMB: number;
  growthMB: number;
}

async function measure(row: string, setting: Setting): Promise<Figures> {
  const [first, second] = setting.short ? [FIRST / SHORT, SECOND / SHORT] : [FIRST, SECOND];
  const program = { script: 'growth.js', args: [String(first), String(second)] };
  let seen: Report | undefined;
  await measureSubject(variantOf(row), program, setting, async (subject) => {
    seen = await subject.next<Report>();
    const { begin, end, ending } = seen;
    return {
      begin,
      end,
      ending,
      units: second,
      allUnits: first + second,
      seconds: (end.wallMs - begin.wallMs) / 1000,
    };
  });
  if (seen === undefined) {
    throw new Error('the program reported nothing');
  }
  return { beforeMB: seen.beforeMB, growthMB: seen.growthMB };
}

export const question: FigureQuestion = {
  kind: 'figures',
  name: 'growth',
  title:
    'Memory over a long run: heap and buffers after 0.4 million awaits, and their growth over 1.6 million more',
  rows: ['off', 'empty', 'traced', 'no-promise-destroy'],
  rounds: 1,
  metrics: [
    { key: 'beforeMB', title: 'at first', unit: 'MB', better: 'less' },
    { key: 'growthMB', title: 'growth', unit: 'MB', better: 'less' },
  ],
  measure,
};
