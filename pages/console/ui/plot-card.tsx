/** @jsxImportSource react */
import { type Column, DataTable } from './data-table.tsx';
import { Plot, type Series } from './plot.tsx';

const plotHeight = 240;

/**
 * A card with a large plot and a table of the plotted values.
 *
 * @param props.at the times of the data points, in seconds since 1970
 * @param props.zone the time zone in which the plot shows its times
 */
export function PlotCard<Row>(props: {
  title: string;
  at: readonly number[];
  series: readonly Series[];
  zone: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
}) {
  const { title, at, series, zone, ...table } = props;
  return (
    <section className="card">
      <h2>{title}</h2>
      <Plot
        label={title}
        at={at}
        series={series}
        zone={zone}
        height={plotHeight}
        table={<DataTable label={title} {...table} />}
      />
    </section>
  );
}
