/** Decodes protocol buffers by protobufjs, so that nothing of the writer is trusted. */
import path from 'node:path';
import { loadSync } from 'protobufjs';
import { ROOT } from '../cli/command';

/** The message as an object, with numbers for all integers and `{}` or `[]` for what is not there. */
export function decode<T>(proto: string, type: string, bytes: Uint8Array): T {
  const root = loadSync(path.join(ROOT, 'test/export', proto));
  const message = root.lookupType(type);
  return message.toObject(message.decode(bytes), { longs: Number, arrays: true }) as T;
}

export interface Profile {
  sampleType: { type: number; unit: number }[];
  sample: { locationId: number[]; value: number[]; label: { key: number; str: number }[] }[];
  location: { id: number; line: { functionId: number; line: number }[] }[];
  function: { id: number; name: number; filename: number }[];
  stringTable: string[];
  timeNanos: number;
  durationNanos: number;
  defaultSampleType: number;
}

interface Interned {
  iid: number;
  name?: string;
}

export interface TrackEvent {
  type: number;
  categoryIids: number[];
  debugAnnotations: { nameIid: number; uintValue: number }[];
  nameIid?: number;
  trackUuid?: number;
  sourceLocationIid?: number;
  callstackIid?: number;
  flowIds: number[];
  terminatingFlowIds: number[];
}

export interface Packet {
  timestamp?: number;
  trustedPacketSequenceId: number;
  sequenceFlags?: number;
  clockSnapshot?: { clocks: { clockId: number; timestamp: number; unitMultiplierNs?: number }[] };
  tracePacketDefaults?: { timestampClockId: number; trackEventDefaults: { trackUuid: number } };
  trackDescriptor?: {
    uuid: number;
    name?: string;
    parentUuid?: number;
    process?: { pid: number; processName: string };
    thread?: { pid: number; tid: number; threadName: string };
  };
  trackEvent?: TrackEvent;
  internedData?: {
    eventCategories: Interned[];
    eventNames: Interned[];
    debugAnnotationNames: Interned[];
    sourceLocations: Interned[];
    functionNames: Interned[];
    frames: (Interned & { functionNameId: number; mappingId: number })[];
    callstacks: (Interned & { frameIds: number[] })[];
    mappings: Interned[];
  };
}
