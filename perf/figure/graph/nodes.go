// Package graph has the graphs that are drawn: nodes with text and heat, edges and
// nested frames. Package diagram draws them. It stands apart because it brings Graphviz,
// and programs that describe graphs should not have to link that.
package graph

// Graph is what to draw.
type Graph struct {
	Title  string
	Nodes  []Node
	Edges  []Edge
	Frames []Frame // by their index; a frame comes before those inside it

	// Heat labels the scale of colours for Node.Heat: "instructions executed,
	// share of routine". Empty: no scale.
	Heat string
}

// Node is a box with lines of text.
type Node struct {
	Lines []string
	Heat  float64 // from 0, white, to 1, deep red; less than 0: grey, never executed
	Frame int     // that contains the node, -1 for none
}

// Edge is an arrow.
type Edge struct {
	From, To int // nodes
	Label    string
	Stroke   Stroke
}

// Stroke is how an edge is drawn.
type Stroke uint8

// The strokes.
const (
	Solid  Stroke = iota
	Heavy         // back edges
	Dashed        // edges that are less certain, or leave no trace in the code
)

// Frame is a labelled rectangle around nodes and other frames.
type Frame struct {
	Label  string
	Parent int // the frame around it, -1 for none
}
