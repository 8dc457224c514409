import type { Operations } from '../analyze/model/operations';
import type { Cut } from './cut';
import type { ExportCounts, Exporter } from './format';
import { Timeline } from './timeline';
import type { TimelineFormat } from './timeline-format';

/** An exporter of a format that shows the log over time. */
export function timelineExporter(
  operations: Operations,
  cut: Cut,
  format: TimelineFormat & { readonly events: number; finish(): void },
): Exporter {
  const timeline = new Timeline(operations, cut, format);
  return {
    visitor: timeline,
    *finish() {
      yield* timeline.finish();
      format.finish();
    },
    counts(): ExportCounts {
      const { spans, slices, flows, leftOut, unended } = timeline;
      return { operations: spans, callbacks: slices, flows, leftOut, unended, events: format.events };
    },
  };
}
