/** @jsxImportSource react */
import 'uplot/dist/uPlot.min.css';
import './console.css';
import { createRoot } from 'react-dom/client';
import { Console } from './app.tsx';

// The library React Aria would add a style element to the page, but the content security policy of the page does not
// allow style elements. The file console.css therefore contains the CSS rule that React Aria cannot add. React Aria
// adds no style element if the page already has an element with the id `react-aria-pressable-style`.
const mark = document.createElement('meta');
mark.id = 'react-aria-pressable-style';
document.head.append(mark);

createRoot(document.getElementById('console')!).render(<Console />);
