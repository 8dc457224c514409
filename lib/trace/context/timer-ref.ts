/** Whether a timer of Node keeps the process alive. */
import { createLiteral } from '../payload/literal';
import type { Literal } from '../payload/text-as-doubles';
import { uncurryGetter } from '../runtime/intrinsics';
import { ownValue } from './own-value';

const REFED = createLiteral(',"refed":true');
const NOT_REFED = createLiteral(',"refed":false');

const { getOwnPropertySymbols } = Object;
const symbolDescription = uncurryGetter<string | undefined>(Symbol.prototype, 'description');

/** The symbol of the property in which Node's timers keep whether they are ref'd; found on the first timer. */
let refed: symbol | undefined;

/** `,"refed":true` or `,"refed":false`; undefined where the resource has no such property. */
export function refState(timer: object): Literal | undefined {
  let state = refed === undefined ? undefined : ownValue(timer, refed);
  if (state === undefined) {
    const symbols = getOwnPropertySymbols(timer);
    for (let i = 0; i < symbols.length; i++) {
      if (symbolDescription(symbols[i]) !== 'refed') {
        continue;
      }
      refed = symbols[i];
      state = ownValue(timer, refed);
    }
  }
  return typeof state === 'boolean' ? (state ? REFED : NOT_REFED) : undefined;
}
