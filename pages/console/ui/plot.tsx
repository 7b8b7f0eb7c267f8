/** @jsxImportSource react */
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react';
import type uPlot from 'uplot';
import { texts } from '../texts.ts';
import { timeText } from './time.tsx';

/** A series of values, which a plot shows as a line or as bars. */
export interface Series {
  name: string;
  values: readonly (number | null)[];
  /** The name of the CSS variable that contains the colour in which the plot shows these values. */
  color: '--plot-1' | '--plot-2' | '--plot-3' | '--bad' | '--quiet';
  look?: 'area' | 'line' | 'bars' | 'dashes';
}

/**
 * The maximum length, in seconds, of a plot whose time axis shows times of day. The time axis of a longer plot shows
 * dates.
 */
const longPeriodSeconds = 60 * 3600;

const darkness = matchMedia('(prefers-color-scheme: dark)');

function onDarknessChange(listener: () => void): () => void {
  darkness.addEventListener('change', listener);
  return () => darkness.removeEventListener('change', listener);
}

/**
 * Whether the page has dark colours. When the page changes between dark and light colours, the plot must be drawn
 * again.
 */
const useDarkness = () => useSyncExternalStore(onDarknessChange, () => darkness.matches);

function optionsOf(
  Plot: typeof uPlot,
  size: { width: number; height: number },
  series: readonly Series[],
  zone: string,
  range: readonly [number | undefined, number | undefined],
  small: boolean,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--quiet'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  const [first = 0, last = 0] = range;
  const parts = last - first > longPeriodSeconds ? 'date' : 'time';
  const times = (_: uPlot, splits: number[]) => splits.map((at) => timeText(at * 1000, zone, parts));
  return {
    ...size,
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1000), zone),
    padding: small ? [4, 0, 2, 0] : [12, 12, 0, 0],
    cursor: { show: !small },
    legend: { show: !small, live: !small },
    scales: { y: { range: (_, _min, max) => [0, Math.max(1, max * 1.08)] } },
    axes: small
      ? [{ show: false }, { show: false }]
      : [
          { ...axis, values: times, space: parts === 'date' ? 88 : 64 }, // a date may have a year
          { ...axis, size: 44 },
        ],
    series: [
      { label: texts.location.time, value: (_, at) => (at === null ? '–' : timeText(at * 1000, zone)) },
      ...series.map(({ name, color: variable, look = 'line' }): uPlot.Series => ({
        label: name,
        stroke: color(variable),
        width: look === 'bars' ? 0 : 2,
        points: { show: false },
        ...(look === 'area' && { fill: `color-mix(in srgb, ${color(variable)} 16%, transparent)` }),
        ...(look === 'bars' && {
          fill: color(variable),
          paths: Plot.paths.bars!({ size: [0.38, 24], align: variable === '--plot-2' ? 1 : -1 }),
        }),
        ...(look === 'dashes' && { dash: [6, 5], width: 1 }),
      })),
    ],
  };
}

/**
 * A plot of values over time. Below the plot, the user can open a table with the plotted values.
 *
 * @param props.at the times of the data points, in seconds since 1970
 * @param props.zone the time zone in which the plot shows its times
 * @param props.table the HTML table that shows the plotted values
 */
export function Plot(props: {
  label: string;
  at: readonly number[];
  series: readonly Series[];
  zone: string;
  height: number;
  small?: boolean;
  table?: ReactNode;
}) {
  const { label, at, series, zone, height, small = false, table } = props;
  const frame = useRef<HTMLDivElement>(null);
  const isDark = useDarkness();
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    let plot: uPlot | undefined;
    let closed = false;
    const resize = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    void import('uplot').then(({ default: UPlot }) => {
      if (closed) return;
      const data = [[...at], ...series.map(({ values }) => [...values])] as uPlot.AlignedData;
      const size = { width: element.clientWidth, height };
      plot = new UPlot(optionsOf(UPlot, size, series, zone, [at[0], at.at(-1)], small), data, element);
      resize.observe(element);
    });
    return () => {
      closed = true;
      resize.disconnect();
      plot?.destroy();
    };
  }, [at, series, zone, height, small, isDark]);
  return (
    <figure className="plot">
      <div
        ref={frame}
        role="img"
        aria-label={label}
        className="plot-frame"
        data-height={small ? 'small' : 'large'}
      />
      {table && (
        <details>
          <summary>{texts.state.asTable}</summary>
          <div className="scroll" tabIndex={0} role="region" aria-label={label}>
            {table}
          </div>
        </details>
      )}
    </figure>
  );
}
