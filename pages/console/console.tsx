/** @jsxImportSource react */
import 'uplot/dist/uPlot.min.css';
import './console.css';
import { createRoot } from 'react-dom/client';
import { Console } from './app.tsx';

// The content security policy of the pages blocks the style element that React Aria would add to the page, so
// console.css contains the CSS rule of this style element. React Aria adds no style element if an element with the id
// `react-aria-pressable-style` exists.
const mark = document.createElement('meta');
mark.id = 'react-aria-pressable-style';
document.head.append(mark);

createRoot(document.getElementById('console')!).render(<Console />);
