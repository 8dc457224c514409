/** Measures a loop: so many iterations under one variant, in a process that does nothing else. */

import path from 'node:path';
import type { LoopReport } from '../subject/loop';
import type { Ending } from '../subject/meter';
import { variantOf } from '../variants/all';
import type { Figures, LoopQuestion, Setting } from './question';
import { measure } from './subject';

const SHORT = 50;
/** What V8 takes to compile is paid once, not by each event. */
const WARM_UP = 2;

export async function measureLoop(question: LoopQuestion, row: string, setting: Setting): Promise<Figures> {
  const variant = variantOf(row);
  const divisor = (variant.slowness ?? 1) * (setting.short ? SHORT : 1);
  const iterations = Math.ceil(question.iterations / divisor);
  const warmUp = Math.ceil(iterations / WARM_UP);
  const module = path.join(__dirname, '../questions', `${question.name}.js`);
  const program = { script: 'loop.js', args: [module, String(warmUp), String(iterations)] };
  return measure(variant, program, setting, async (subject) => {
    const { begin, end, ending } = await subject.next<LoopReport & { ending: Ending }>();
    const seconds = (end.wallMs - begin.wallMs) / 1000;
    return { begin, end, units: iterations, allUnits: warmUp + iterations, seconds, ending };
  });
}
