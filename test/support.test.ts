import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { describe, it } from 'node:test';
import { canSkipPromises, requireHooks, requireLittleEndian } from '../lib/trace/runtime/features';

describe('support', () => {
  it('refuses a processor that stores the highest byte first', () => {
    assert.throws(() => requireLittleEndian(0), { code: 'ERR_ASYNC_TRACER_UNSUPPORTED' });
  });

  it('takes this machine', () => {
    requireLittleEndian();
    requireHooks();
  });

  it('knows whether createHook() leaves promises out when asked to', async () => {
    let promises = 0;
    const hook = createHook({
      init(_, type) {
        promises += type === 'PROMISE' ? 1 : 0;
      },
      ...({ trackPromises: false } as object),
    }).enable();
    await null;
    hook.disable();
    assert.equal(promises === 0, canSkipPromises);
  });
});
