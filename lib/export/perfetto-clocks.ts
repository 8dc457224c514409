import { BOOTTIME, CLOCK, PACKET, REALTIME, SEQUENCE_CLOCK, SNAPSHOT } from './perfetto-fields';
import type { ProtobufWriter } from './protobuf';

/** The clock of a sequence counts microseconds from its first record, and the trace's clock is the time of day. */
export function writeClocks(writer: ProtobufWriter, from: number): void {
  const snapshot = writer.open(PACKET.clockSnapshot);
  const epochNs = BigInt(Math.round(from * 1000)) * 1000n;
  for (const [id, timestamp, unit] of [
    [BOOTTIME, epochNs, 1],
    [REALTIME, epochNs, 1],
    [SEQUENCE_CLOCK, 0, 1000],
  ] as const) {
    const clock = writer.open(SNAPSHOT.clock);
    writer.varint(CLOCK.id, id);
    writer.varint(CLOCK.timestamp, timestamp);
    if (unit > 1) {
      writer.varint(CLOCK.unit, unit);
    }
    writer.close(clock);
  }
  writer.varint(SNAPSHOT.primary, BOOTTIME);
  writer.close(snapshot);
}
