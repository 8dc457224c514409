/** Where and when a result was made: without it no figure can be compared. */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Pins, pins } from './process';

export interface Machine {
  date: string;
  cpu: string;
  cores: number;
  memoryGiB: number;
  system: string;
  /** Load of the last minute at the start: above the share of the suite itself, others were at work. */
  load: number;
  pins?: Pins;
  /** Version of the node that was measured, and of its engine. */
  node: string;
  v8: string;
  tracer: string;
}

/** Throws an Error that names the binary where it is no node. */
export function describeMachine(node: string): Machine {
  const { stdout, error } = spawnSync(node, ['-p', 'JSON.stringify(process.versions)'], { encoding: 'utf8' });
  if (error !== undefined) {
    throw new Error(`--node ${node}: ${error.message}`);
  }
  const versions = JSON.parse(stdout) as { node: string; v8: string };
  const own = JSON.parse(fs.readFileSync(path.join(__dirname, '../../../package.json'), 'utf8')) as {
    version: string;
  };
  return {
    date: new Date().toISOString(),
    cpu: os.cpus()[0]?.model ?? 'unknown',
    cores: os.cpus().length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    load: os.loadavg()[0],
    pins: pins(),
    node: versions.node,
    v8: versions.v8,
    tracer: own.version,
  };
}

export function machineText(machine: Machine): string {
  const { pins: pinned } = machine;
  const places = pinned
    ? `program on core ${pinned.subject}, load on core ${pinned.other}`
    : 'not pinned: no taskset or one core';
  return [
    `async-tracer ${machine.tracer}, Node ${machine.node} (V8 ${machine.v8}), ${machine.date}`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}; ${places}; load ${machine.load.toFixed(2)} before`,
  ].join('\n');
}
