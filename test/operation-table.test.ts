import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { OperationTable, PAGE_SIZE } from '../lib/trace/hook/operation-table';

/** What the table must equal, whatever it does inside. */
class Model {
  readonly table = new OperationTable();
  readonly map = new Map<number, number>();

  set(id: number, code: number): void {
    this.table.set(id, code);
    this.map.set(id, code);
  }

  delete(id: number): void {
    assert.equal(this.table.delete(id), this.map.get(id) ?? 0, `delete(${id})`);
    this.map.delete(id);
  }

  check(ids: Iterable<number>): void {
    for (const id of ids) {
      assert.equal(this.table.get(id), this.map.get(id) ?? 0, `get(${id})`);
    }
    assert.equal(this.table.size, this.map.size);
  }
}

describe('OperationTable', () => {
  it('knows nothing at first', () => {
    const table = new OperationTable();
    for (const id of [-1, 0, 1, PAGE_SIZE, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      assert.equal(table.get(id), 0);
      assert.equal(table.delete(id), 0);
    }
    assert.equal(table.size, 0);
  });

  it('equals a Map under any order of sets and deletes, near and far ids alike', () => {
    const near = fc.integer({ min: 0, max: 12 * PAGE_SIZE });
    const high = fc.integer({ min: 0, max: 3 * PAGE_SIZE }).map((n) => 2 ** 33 + n);
    const seam = fc.integer({ min: -PAGE_SIZE, max: PAGE_SIZE }).map((n) => 2 ** 31 + n);
    const id = fc.oneof({ weight: 6, arbitrary: near }, high, seam);
    const step = fc.record({ id, code: fc.integer({ min: 1, max: 65_535 }), erase: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const model = new Model();
        for (const { id, code, erase } of steps) {
          if (erase) {
            model.delete(id);
          } else {
            model.set(id, code);
          }
        }
        model.check(steps.map((s) => s.id));
      }),
    );
  });

  it('equals a Map for ids that come in order and die at any age', () => {
    const life = fc.integer({ min: 1, max: 5 * PAGE_SIZE });
    fc.assert(
      fc.property(
        fc.array(life, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 0, max: 2 ** 33 }),
        (lives, start) => {
          const model = new Model();
          const dying: number[][] = [];
          const total = 7 * PAGE_SIZE;
          for (let n = 0; n < total; n++) {
            const id = start + n;
            model.set(id, (n % 65_535) + 1);
            const end = n + lives[n % lives.length];
            if (end < total) {
              dying[end] ??= [];
              dying[end].push(id);
            }
            for (const dead of dying[n] ?? []) {
              model.delete(dead);
            }
          }
          model.check(model.map.keys());
          for (const id of [...model.map.keys()]) {
            model.delete(id);
          }
          model.check([start, start + total]);
        },
      ),
      { numRuns: 6 },
    );
  });

  it('gives the memory of dead operations back', () => {
    const table = new OperationTable();
    for (let id = 0; id < 40 * PAGE_SIZE; id++) {
      table.set(id, 1);
    }
    assert.ok(table.byteLength > 40 * PAGE_SIZE * 2);
    for (let id = 0; id < 40 * PAGE_SIZE; id++) {
      table.delete(id);
    }
    assert.equal(table.size, 0);
    assert.ok(table.byteLength < 20 * PAGE_SIZE * 2, `${table.byteLength} bytes`);
  });

  it('keeps 10 million live operations in 30 MB', () => {
    const table = new OperationTable();
    for (let id = 0; id < 10_000_000; id++) {
      table.set(id, 7);
    }
    assert.equal(table.size, 10_000_000);
    assert.ok(table.byteLength <= 30e6, `${table.byteLength} bytes`);
  });

  it('keeps one survivor in 16,384 for tens of bytes, not for a page', () => {
    const table = new OperationTable();
    const pages = 2_000;
    for (let id = 0; id < pages * PAGE_SIZE; id++) {
      table.set(id, 7);
      if (id % PAGE_SIZE !== 0) {
        table.delete(id);
      }
    }
    assert.equal(table.size, pages);
    assert.ok(table.byteLength < pages * 100 + 20 * PAGE_SIZE * 2, `${table.byteLength} bytes`);
    for (let page = 0; page < pages; page++) {
      assert.equal(table.get(page * PAGE_SIZE), 7);
    }
  });

  it('stays small while ids run on to billions with a few that never end', () => {
    const table = new OperationTable();
    for (let n = 0; n < 200_000; n++) {
      const id = n * PAGE_SIZE;
      table.set(id, 3);
      if (n % 1000 !== 0) {
        table.delete(id);
      }
    }
    assert.equal(table.size, 200);
    assert.ok(table.byteLength < 3e6, `${table.byteLength} bytes`);
    assert.equal(table.get(199_000 * PAGE_SIZE), 3);
  });
});
