package channel

import "slices"

// Clone returns a copy that shares nothing that changes.
func (c Channel) Clone() Channel {
	c.PriorityGroups = slices.Clone(c.PriorityGroups)
	for i := range c.PriorityGroups {
		c.PriorityGroups[i].cloneLists()
	}
	c.BroadcastGroups = slices.Clone(c.BroadcastGroups)
	for i := range c.BroadcastGroups {
		c.BroadcastGroups[i].Groups = slices.Clone(c.BroadcastGroups[i].Groups)
	}
	if info, ok := c.Info.(AlphaInfo); ok {
		info.Tasks = slices.Clone(info.Tasks)
		c.Info = info
	}
	return c
}

// cloneLists gives the group lists of its own.
func (g *PriorityGroup) cloneLists() {
	for _, list := range []*[]string{&g.GlobalNodes, &g.GroupGlobalNodes, &g.GroupTrees, &g.OffGlobalNodes, &g.OffTrees, &g.Trees} {
		*list = slices.Clone(*list)
	}
}
